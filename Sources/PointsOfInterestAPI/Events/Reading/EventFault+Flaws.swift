extension EventFault {
    /// What every text of an event keeps to.
    static let textRule = "must be UTF-8 without NULs, bare control characters and halves of surrogate pairs"
}

extension JSONFlaws {
    /// The faults that a value with these flaws has.
    var faults: [(code: EventFault.Code, detail: String)] {
        // Asked of every event, most of which have none.
        guard !isEmpty else { return [] }
        var faults: [(EventFault.Code, String)] = []
        if contains(.text) { faults.append((.malformedText, EventFault.textRule)) }
        if contains(.repetition) { faults.append((.repeated, "must not name a member twice")) }
        if contains(.number) { faults.append((.outOfRange, "must have numbers that a double can hold")) }
        if contains(.size) {
            faults.append(
                (
                    .tooLarge,
                    "must have at most \(EventLimits.members) members an object and \(EventLimits.levels) levels"
                ))
        }
        return faults
    }
}

extension UInt8 {
    /// Whether a number can begin with this character.
    var beginsNumber: Bool {
        self == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}

/// Checks an event's value against its definition.
struct EventValueChecker {
    typealias SyntaxError = JSONScanner.SyntaxError

    /// A fault of a parameter.
    struct Fault {
        let code: EventFault.Code
        let detail: String
        let parameter: String?
    }

    let definition: EventDefinition
    private(set) var faults: [Fault] = []
    /// A bit for each parameter that was there; a definition has at most 64 parameters.
    private var given: UInt64 = 0

    init(definition: EventDefinition) {
        self.definition = definition
    }

    /// Checks the object in this range of the bytes. Nil is checked as an empty object.
    mutating func check(_ value: Range<Int>?, of bytes: UnsafeBufferPointer<UInt8>) throws(SyntaxError) {
        if let value {
            var scanner = JSONScanner(bytes, from: value.lowerBound)
            try scanner.object { (name, scanner) throws(SyntaxError) in try check(name, &scanner) }
        }
        for (index, parameter) in definition.parameters.enumerated()
        where parameter.isRequired && given & 1 << UInt64(index) == 0 {
            report(.missing, "must be given", parameter)
        }
    }

    private mutating func check(_ name: JSONText, _ scanner: inout JSONScanner) throws(SyntaxError) {
        let definition = definition
        let index = name.withContent(in: scanner.bytes, atMost: EventLimits.valueBytes) { content in
            definition.parameters.firstIndex { content.isSame(as: $0.name) }
        }
        guard let index else {
            if !definition.allowsOthers {
                report(.unknown, Self.knownNames(of: definition), nil)
            }
            return try scanner.skipValue()
        }
        guard scanner.next != UInt8(ascii: "n") else { return try scanner.literal("null") }
        given |= 1 << UInt64(index)
        let parameter = definition.parameters[index]
        switch parameter.kind {
        case .text(let length): try checkText(&scanner, parameter, length)
        case .openChoice(_, let length): try checkText(&scanner, parameter, length)
        case .choice(let choices): try checkChoice(&scanner, parameter, choices)
        case .integer(let range): try checkInteger(&scanner, parameter, range)
        case .number(let range): try checkNumber(&scanner, parameter, range)
        case .boolean: try checkBoolean(&scanner, parameter)
        }
    }

    private mutating func checkText(
        _ scanner: inout JSONScanner, _ parameter: EventParameter, _ length: ClosedRange<Int>
    ) throws(SyntaxError) {
        guard scanner.next == UInt8(ascii: "\"") else { return try mistype(&scanner, parameter, "a text") }
        let text = try scanner.string()
        guard !length.contains(text.length(in: scanner.bytes)) else { return }
        report(
            .outOfRange, "must have \(length.lowerBound) to \(length.upperBound) characters", parameter)
    }

    private mutating func checkChoice(
        _ scanner: inout JSONScanner, _ parameter: EventParameter, _ choices: [String]
    ) throws(SyntaxError) {
        guard scanner.next == UInt8(ascii: "\"") else { return try mistype(&scanner, parameter, "a text") }
        let text = try scanner.string()
        let choice = text.withContent(in: scanner.bytes, atMost: EventLimits.valueBytes) { content in
            choices.firstIndex { content.isSame(as: $0) }
        }
        guard choice == nil else { return }
        report(.notAChoice, "must be one of \(choices.joined(separator: ", "))", parameter)
    }

    private mutating func checkInteger(
        _ scanner: inout JSONScanner, _ parameter: EventParameter, _ range: ClosedRange<Int>
    ) throws(SyntaxError) {
        guard scanner.next.beginsNumber else { return try mistype(&scanner, parameter, "a whole number") }
        let token = try scanner.number()
        if let number = scanner.integer(ofNumber: token), range.contains(number) { return }
        let isWhole = scanner.value(ofNumber: token).rounded() == scanner.value(ofNumber: token)
        report(
            isWhole ? .outOfRange : .wrongType,
            "must be a whole number from \(range.lowerBound) to \(range.upperBound)", parameter)
    }

    private mutating func checkNumber(
        _ scanner: inout JSONScanner, _ parameter: EventParameter, _ range: ClosedRange<Double>
    ) throws(SyntaxError) {
        guard scanner.next.beginsNumber else { return try mistype(&scanner, parameter, "a number") }
        let number = scanner.value(ofNumber: try scanner.number())
        guard !range.contains(number) else { return }
        report(.outOfRange, "must be from \(range.lowerBound) to \(range.upperBound)", parameter)
    }

    private mutating func checkBoolean(
        _ scanner: inout JSONScanner, _ parameter: EventParameter
    ) throws(SyntaxError) {
        switch scanner.next {
        case UInt8(ascii: "t"): try scanner.literal("true")
        case UInt8(ascii: "f"): try scanner.literal("false")
        default: try mistype(&scanner, parameter, "true or false")
        }
    }

    private mutating func mistype(
        _ scanner: inout JSONScanner, _ parameter: EventParameter, _ expected: String
    ) throws(SyntaxError) {
        try scanner.skipValue()
        report(.wrongType, "must be \(expected)", parameter)
    }

    private static func knownNames(of definition: EventDefinition) -> String {
        let known = definition.parameters.map(\.name).joined(separator: ", ")
        return "\(definition.name) \(known.isEmpty ? "has no values" : "has only \(known)")"
    }

    /// Adds a fault, unless there are `EventLimits.faults` already; then its text isn't made.
    private mutating func report(
        _ code: EventFault.Code, _ detail: @autoclosure () -> String, _ parameter: EventParameter?
    ) {
        guard faults.count < EventLimits.faults else { return }
        faults.append(Fault(code: code, detail: detail(), parameter: parameter?.name))
    }
}

extension EventFault {
    /// The rule for every text of an event.
    static let textRule = "must be UTF-8 without NULs, bare control characters and halves of surrogate pairs"
}

extension JSONFlaws {
    /// The faults that a value with these flaws has.
    var faults: [(code: EventFault.Code, detail: String)] {
        // Called for every event; most have no flaws.
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

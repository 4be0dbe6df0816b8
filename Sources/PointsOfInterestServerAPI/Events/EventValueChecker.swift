import Bytes
import PointsOfInterestAPI

extension EventReader {
    /// Checks an event's value against its definition.
    mutating func check(
        _ members: [JSONMember], againstDefinition index: Int, _ scanner: borrowing JSONScanner
    ) {
        let definition = catalog.definitions[index]
        let parameters = definition.parameters
        // A bit for each parameter that is there; a definition has at most 64 parameters.
        var given: UInt64 = 0
        for member in members {
            let index = member.name.withContent(in: scanner.bytes, atMost: EventLimits.valueBytes) { name in
                parameters.indices.first { name.isSame(as: parameters[$0].name) }
            }
            guard let index else {
                if !definition.allowsOthers { report(.unknown, definition.knownNames, parameter: nil) }
                continue
            }
            if case .null = member.value { continue }
            given |= 1 << UInt64(index)
            guard faults.count < maximumFaults,
                let fault = parameters[index].kind.fault(of: member.value, scanner)
            else { continue }
            report(fault.code, fault.detail, parameter: parameters[index].name)
        }
        for index in parameters.indices where parameters[index].isRequired && given & 1 << UInt64(index) == 0
        {
            report(.missing, "must be given", parameter: parameters[index].name)
        }
    }
}

extension EventDefinition {
    /// The rule that a value with other names breaks.
    fileprivate var knownNames: String {
        let known = parameters.map(\.name).joined(separator: ", ")
        return "\(name) \(known.isEmpty ? "has no values" : "has only \(known)")"
    }
}

extension EventParameter.Kind {
    /// What is wrong with a parameter's value; nil if nothing is.
    fileprivate func fault(
        of value: JSONToken, _ scanner: borrowing JSONScanner
    ) -> (code: EventFault.Code, detail: String)? {
        switch self {
        case .text(let length), .openChoice(_, let length):
            guard case .text(let text) = value else { return (.wrongType, "must be a text") }
            if length.contains(text.length(in: scanner.bytes)) { return nil }
            return (.outOfRange, "must have \(length.lowerBound) to \(length.upperBound) characters")
        case .choice(let choices):
            guard case .text(let text) = value else { return (.wrongType, "must be a text") }
            let choice = text.withContent(in: scanner.bytes, atMost: EventLimits.valueBytes) { content in
                choices.firstIndex { content.isSame(as: $0) }
            }
            if choice != nil { return nil }
            return (.notAChoice, "must be one of \(choices.joined(separator: ", "))")
        case .integer(let range):
            guard case .number(let token) = value else { return (.wrongType, "must be a whole number") }
            if let number = scanner.integer(ofNumber: token), range.contains(number) { return nil }
            let number = scanner.value(ofNumber: token)
            return (
                number.rounded() == number ? .outOfRange : .wrongType,
                "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
            )
        case .number(let range):
            guard case .number(let token) = value else { return (.wrongType, "must be a number") }
            if range.contains(scanner.value(ofNumber: token)) { return nil }
            return (.outOfRange, "must be from \(range.lowerBound) to \(range.upperBound)")
        case .boolean:
            guard case .boolean = value else { return (.wrongType, "must be true or false") }
            return nil
        }
    }
}

extension EventFault {
    /// The rule for every text of an event.
    static let textRule = "must be UTF-8 without NULs, bare control characters and halves of surrogate pairs"
}

extension JSONFlaws {
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
    var beginsNumber: Bool {
        self == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}

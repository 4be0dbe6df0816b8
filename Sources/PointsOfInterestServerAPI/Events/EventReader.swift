#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads one event of a batch and collects its faults.
struct EventReader {
    typealias SyntaxError = JSONScanner.SyntaxError

    private let index: Int
    private let catalog: EventCatalog
    private let maximumFaults: Int
    private(set) var faults: [EventFault] = []
    private var seen = EventMembers()

    private var id: UUID?
    private var userID: String?
    private var time: Double?
    private var name: String?
    private var value: Range<Int>?
    private var isTest = false

    init(index: Int, catalog: EventCatalog, maximumFaults: Int) {
        self.index = index
        self.catalog = catalog
        self.maximumFaults = maximumFaults
    }

    /// Reads the event; nil if it has faults.
    mutating func read(_ scanner: inout JSONScanner, of body: [UInt8]) throws(SyntaxError) -> ReceivedEvent? {
        guard scanner.next == UInt8(ascii: "{") else {
            try scanner.skipValue()
            report(.notAnEvent, "must be an object")
            return nil
        }
        try readMembers(&scanner, of: EventMember.ofEvents)
        return finish(scanner.bytes, of: body)
    }

    private mutating func readMembers(
        _ scanner: inout JSONScanner, of known: [EventMember]
    ) throws(SyntaxError) {
        try scanner.object { (name, scanner) throws(SyntaxError) in
            scanner.flaws = []
            guard let member = EventMember.named(name, among: known, in: scanner.bytes) else {
                return try scanner.skipValue()
            }
            guard seen.insert(member) else {
                report(.repeated, "must be given once", member)
                return try scanner.skipValue()
            }
            try read(member, &scanner)
        }
    }

    private mutating func read(_ member: EventMember, _ scanner: inout JSONScanner) throws(SyntaxError) {
        switch member {
        case .id: id = try readID(&scanner)
        case .userID: userID = try readText(&scanner, .userID, bytes: EventLimits.userIDBytes)
        case .time: time = try readTime(&scanner)
        case .event:
            guard scanner.next == UInt8(ascii: "{") else {
                // One fault is enough: without the object, the name isn't reported as missing.
                _ = seen.insert(.name)
                return try mistype(&scanner, .event, "an object")
            }
            try readMembers(&scanner, of: EventMember.ofEvent)
        case .test: isTest = try readTest(&scanner)
        case .name: name = try readText(&scanner, .name, bytes: EventLimits.nameBytes)
        case .value: value = try readValue(&scanner)
        }
    }

    // MARK: - Members

    private mutating func readID(_ scanner: inout JSONScanner) throws(SyntaxError) -> UUID? {
        switch scanner.next {
        case UInt8(ascii: "\""):
            let text = try scanner.string()
            if let id = UUID(text, in: scanner.bytes) { return id }
            report(.notAUUID, "must be a UUID of 36 characters", .id)
        case UInt8(ascii: "n"): try scanner.literal("null")
        default: try mistype(&scanner, .id, "a text")
        }
        return nil
    }

    private mutating func readText(
        _ scanner: inout JSONScanner, _ member: EventMember, bytes limit: Int
    ) throws(SyntaxError) -> String? {
        guard scanner.next == UInt8(ascii: "\"") else {
            try mistype(&scanner, member, "a text")
            return nil
        }
        let token = try scanner.string()
        guard scanner.flaws.isEmpty else {
            report(.malformedText, EventFault.textRule, member)
            return nil
        }
        // An escape has at most six bytes for each byte of the text.
        let text = token.range.count <= 6 * limit ? token.decoded(in: scanner.bytes) : nil
        guard let text, (1...limit).contains(text.utf8.count) else {
            report(.outOfRange, "must have 1 to \(limit) bytes", member)
            return nil
        }
        return text
    }

    private mutating func readTime(_ scanner: inout JSONScanner) throws(SyntaxError) -> Double? {
        guard scanner.next.beginsNumber else {
            try mistype(&scanner, .time, "a number")
            return nil
        }
        let number = scanner.value(ofNumber: try scanner.number())
        guard EventLimits.times.contains(number) else {
            report(.outOfRange, "must be in seconds since 1970, from -2e11 to 9e12", .time)
            return nil
        }
        return number
    }

    private mutating func readTest(_ scanner: inout JSONScanner) throws(SyntaxError) -> Bool {
        switch scanner.next {
        case UInt8(ascii: "t"):
            try scanner.literal("true")
            return true
        case UInt8(ascii: "f"): try scanner.literal("false")
        case UInt8(ascii: "n"): try scanner.literal("null")
        default: try mistype(&scanner, .test, "true or false")
        }
        return false
    }

    private mutating func readValue(_ scanner: inout JSONScanner) throws(SyntaxError) -> Range<Int>? {
        guard scanner.next == UInt8(ascii: "{") else {
            if scanner.next == UInt8(ascii: "n") {
                try scanner.literal("null")
            } else {
                try mistype(&scanner, .value, "an object")
            }
            return nil
        }
        let start = scanner.position
        try scanner.value(atMost: EventLimits.valueBytes)
        let range = start..<scanner.position
        for (code, detail) in scanner.flaws.faults { report(code, detail, .value) }
        if range.count > EventLimits.valueBytes {
            report(.tooLarge, "must have at most \(EventLimits.valueBytes) bytes", .value)
        }
        return range
    }

    // MARK: - The event as a whole

    private mutating func finish(_ bytes: UnsafeBufferPointer<UInt8>, of body: [UInt8]) -> ReceivedEvent? {
        for member in EventMember.required where !seen.contains(member) {
            if member == .name, !seen.contains(.event) { continue }
            report(.missing, "must be given", member)
        }
        let definition = name.flatMap { catalog[$0] }
        // Flaws of the JSON are reported as such; the definition isn't checked then.
        if let definition, faults.isEmpty {
            check(value, against: definition, bytes)
        }
        guard faults.isEmpty, let userID, let time, let name else { return nil }
        return ReceivedEvent(
            id: id, userID: userID, time: time, name: definition?.name ?? name,
            value: value.map { body[$0] } ?? [], isTest: isTest, isKnown: definition != nil)
    }

    private mutating func check(
        _ value: Range<Int>?, against definition: EventDefinition, _ bytes: UnsafeBufferPointer<UInt8>
    ) {
        var checker = EventValueChecker(definition: definition)
        // The value was scanned before, so it can't fail now.
        try? checker.check(value, of: bytes)
        for fault in checker.faults { report(fault.code, fault.detail, parameter: fault.parameter) }
    }

    // MARK: - Faults

    private mutating func mistype(
        _ scanner: inout JSONScanner, _ member: EventMember, _ expected: String
    ) throws(SyntaxError) {
        try scanner.skipValue()
        report(.wrongType, "must be \(expected)", member)
    }

    private mutating func report(_ code: EventFault.Code, _ detail: String, _ member: EventMember) {
        report(code, detail, parameter: member.path)
    }

    private mutating func report(_ code: EventFault.Code, _ detail: String, parameter: String? = nil) {
        guard faults.count < maximumFaults else { return }
        faults.append(EventFault(index: index, code: code, detail: detail, parameter: parameter))
    }
}

/// The members of an event as it is sent, and of its `event`.
enum EventMember: UInt8 {
    case id, userID, time, event, test, name, value

    static let ofEvents: [EventMember] = [.id, .userID, .time, .event, .test]
    static let ofEvent: [EventMember] = [.name, .value]
    static let required: [EventMember] = [.userID, .time, .event, .name]

    /// The member as a fault names it.
    var path: String {
        switch self {
        case .name, .value: "event.\(key)"
        case .id, .userID, .time, .event, .test: key.description
        }
    }

    /// The longest of the names in a document, in bytes.
    private static let longestKey = 7

    /// The member with this name in a document; nil for other names.
    static func named(
        _ name: JSONText, among members: [EventMember], in bytes: UnsafeBufferPointer<UInt8>
    ) -> EventMember? {
        name.withContent(in: bytes, atMost: longestKey) { content in
            members.first { member in
                let key = member.key
                return content.isSame(
                    as: UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
            }
        }
    }

    private var key: StaticString {
        switch self {
        case .id: "id"
        case .userID: "user_id"
        case .time: "time"
        case .event: "event"
        case .test: "test"
        case .name: "name"
        case .value: "value"
        }
    }
}

/// A set of members in one byte, since there is one for every event that is read.
struct EventMembers {
    private var bits: UInt8 = 0

    /// Adds a member; false if it was there.
    mutating func insert(_ member: EventMember) -> Bool {
        let isNew = !contains(member)
        bits |= Self.bit(member)
        return isNew
    }

    func contains(_ member: EventMember) -> Bool { bits & Self.bit(member) != 0 }

    private static func bit(_ member: EventMember) -> UInt8 { (1 as UInt8) << member.rawValue }
}

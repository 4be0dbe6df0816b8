import Bytes
import PointsOfInterestAPI

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads the events of a batch, one after another, and collects the faults of each.
struct EventReader {
    typealias SyntaxError = JSONScanner.SyntaxError

    private let body: [UInt8]
    let catalog: EventCatalog
    /// The events without faults that were read.
    private(set) var events: [ReceivedEvent] = []
    /// The last user's id that was read: most events of a batch have the same.
    private var lastUserID: String?

    // The event that is read.
    private var index = 0
    private(set) var maximumFaults = 0
    private(set) var faults: [EventFault] = []
    private var seen = EventMembers()
    private var id: UUID?
    private var userID: String?
    private var time: Double?
    private var name: String?
    /// The place of the event's definition in the catalog.
    private var definition: Int?
    private var value: Range<Int>?
    private var isTest = false

    init(body: [UInt8], catalog: EventCatalog) {
        self.body = body
        self.catalog = catalog
        // The shortest event has about a hundred bytes.
        events.reserveCapacity(min(EventLimits.events, body.count / 100 + 1))
    }

    /// Reads the event with this index.
    mutating func read(_ scanner: inout JSONScanner, index: Int, maximumFaults: Int) throws(SyntaxError) {
        begin(index: index, maximumFaults: maximumFaults)
        guard scanner.next == UInt8(ascii: "{") else {
            try scanner.skipValue()
            return report(.notAnEvent, "must be an object", parameter: nil)
        }
        try readMembers(&scanner, of: EventMember.ofEvents)
        finish(scanner)
    }

    private mutating func begin(index: Int, maximumFaults: Int) {
        self.index = index
        self.maximumFaults = maximumFaults
        if !faults.isEmpty { faults = [] }
        seen = EventMembers()
        (id, userID, time, name, definition, value, isTest) = (nil, nil, nil, nil, nil, nil, false)
    }

    private mutating func readMembers(
        _ scanner: inout JSONScanner, of known: [EventMember.Name]
    ) throws(SyntaxError) {
        try scanner.object { (name, scanner) throws(SyntaxError) in
            scanner.flaws = []
            guard let member = EventMember.Name.member(named: name, among: known, in: scanner.bytes) else {
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
        case .userID: userID = try readUserID(&scanner)
        case .time: time = try readTime(&scanner)
        case .event:
            guard scanner.next == UInt8(ascii: "{") else {
                // One fault is enough: without the object, the name isn't reported as missing.
                _ = seen.insert(.name)
                return try mistype(&scanner, .event, "an object")
            }
            try readMembers(&scanner, of: EventMember.ofEvent)
        case .test: isTest = try readTest(&scanner)
        case .name: try readName(&scanner)
        case .value: value = try readValue(&scanner)
        }
    }

    // MARK: - Members

    private mutating func readID(_ scanner: inout JSONScanner) throws(SyntaxError) -> UUID? {
        switch scanner.next {
        case UInt8(ascii: "\""):
            let text = try scanner.string()
            // Ids of version 8 are those that the service derives from an event's content. Others could be found out by them.
            if let id = UUID(text, in: scanner.bytes), id.version != 8 { return id }
            report(.notAUUID, "must be a UUID of 36 characters, and of another version than 8", .id)
        case UInt8(ascii: "n"): try scanner.literal("null")
        default: try mistype(&scanner, .id, "a text")
        }
        return nil
    }

    private mutating func readUserID(_ scanner: inout JSONScanner) throws(SyntaxError) -> String? {
        guard let text = try readText(&scanner, .userID) else { return nil }
        if let lastUserID, !text.isEscaped, text.raw(in: scanner.bytes).isSame(as: lastUserID) {
            return lastUserID
        }
        guard let userID = decode(text, .userID, bytes: EventLimits.userIDBytes, of: scanner) else {
            return nil
        }
        lastUserID = userID
        return userID
    }

    private mutating func readName(_ scanner: inout JSONScanner) throws(SyntaxError) {
        guard let text = try readText(&scanner, .name) else { return }
        definition = text.withContent(in: scanner.bytes, atMost: EventLimits.nameBytes) {
            catalog.index(of: $0)
        }
        if let definition {
            name = catalog.definitions[definition].name
        } else {
            name = decode(text, .name, bytes: EventLimits.nameBytes, of: scanner)
        }
    }

    private mutating func readText(
        _ scanner: inout JSONScanner, _ member: EventMember
    ) throws(SyntaxError) -> JSONText? {
        guard scanner.next == UInt8(ascii: "\"") else {
            try mistype(&scanner, member, "a text")
            return nil
        }
        let text = try scanner.string()
        guard scanner.flaws.isEmpty else {
            report(.malformedText, EventFault.textRule, member)
            return nil
        }
        return text
    }

    private mutating func decode(
        _ token: JSONText, _ member: EventMember, bytes limit: Int, of scanner: borrowing JSONScanner
    ) -> String? {
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
        let token = try scanner.number()
        let number = scanner.value(ofNumber: token)
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

    private mutating func finish(_ scanner: borrowing JSONScanner) {
        for member in EventMember.required where !seen.contains(member) {
            if member == .name, !seen.contains(.event) { continue }
            report(.missing, "must be given", member)
        }
        // Flaws of the JSON are reported as such; the definition isn't checked then.
        if let definition, faults.isEmpty {
            check(value == nil ? [] : scanner.members, againstDefinition: definition, scanner)
        }
        guard faults.isEmpty, let userID, let time, let name else { return }
        events.append(
            ReceivedEvent(
                id: id, userID: userID, time: time, name: name, value: value.map { body[$0] } ?? [],
                isTest: isTest, isKnown: definition != nil))
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

    /// Adds a fault, unless there are enough; then its text isn't made.
    mutating func report(_ code: EventFault.Code, _ detail: @autoclosure () -> String, parameter: String?) {
        guard faults.count < maximumFaults else { return }
        faults.append(EventFault(index: index, code: code, detail: detail(), parameter: parameter))
    }
}

/// The members of an event as it is sent, and of its `event`.
enum EventMember: UInt8 {
    case id, userID, time, event, test, name, value

    static let ofEvents = [EventMember.id, .userID, .time, .event, .test].map(Name.init)
    static let ofEvent = [EventMember.name, .value].map(Name.init)
    static let required: [EventMember] = [.userID, .time, .event, .name]

    /// The member as a fault names it.
    var path: String {
        switch self {
        case .name, .value: "event.\(key)"
        case .id, .userID, .time, .event, .test: key.description
        }
    }

    /// A member with its name as numbers, which are quicker to compare.
    struct Name {
        /// The longest name in a document, in bytes.
        private static let longest = 7

        private let member: EventMember
        private let count: Int
        private let word: UInt64

        init(of member: EventMember) {
            self.member = member
            (count, word) = (member.key.utf8CodeUnitCount, member.key.lastWord)
        }

        /// The member with this name in a document; nil for other names.
        static func member(
            named name: JSONText, among known: [Name], in bytes: UnsafeBufferPointer<UInt8>
        ) -> EventMember? {
            name.withContent(in: bytes, atMost: longest) { content in
                let word = content.lastWord
                return known.first { $0.count == content.count && $0.word == word }?.member
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

    private static func bit(_ member: EventMember) -> UInt8 { (1 as UInt8) &<< member.rawValue }
}

import Foundation
import PointsOfInterestHTTP

/// A change of a queue. The records of a queue's file, in order, restore the queue.
enum JournalRecord: Equatable {
    /// An event was added, or in the file of reports a report. Its number is greater than those of all earlier ones.
    case event(number: UInt64, json: [UInt8])
    /// An event was added that reports dropped ones, which are no longer counted.
    case report(number: UInt64, drop: EventDrops.Key, count: Int, json: [UInt8])
    /// The service has all events up to this number.
    case acknowledged(through: UInt64)
    /// These events were dropped, or these reports are sent.
    case dropped([UInt64], EventDropReason)
    /// This many events were dropped that are no longer in the file.
    case counted(EventDrops.Key, Int)
    /// All earlier records are void: the records of the whole queue follow.
    case restarted
}

extension JournalRecord {
    /// The record as a line: a hash of the rest, which shows whether the line is damaged; a sign for the kind, and the
    /// fields, separated by colons; and the event's JSON, which has no line feeds.
    var line: [UInt8] {
        let content = Array(([String(sign)] + fields).joined(separator: ":").utf8) + [Self.blank] + json
        return Array(Self.hexHash(of: content).utf8) + [Self.blank] + content + [UInt8(ascii: "\n")]
    }

    /// Reads a line without its line feed; nil for a damaged one, or one of a kind that a later version has.
    init?(line: ArraySlice<UInt8>) {
        let parts = line.split(separator: Self.blank, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3,
            parts[0].elementsEqual(Self.hexHash(of: line[parts[1].startIndex...]).utf8)
        else { return nil }
        let fields = String(decoding: parts[1], as: UTF8.self)
            .split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        self.init(sign: fields[0], fields: fields.dropFirst(), json: Array(parts[2]))
    }

    private init?(sign: String, fields: ArraySlice<String>, json: [UInt8]) {
        var fields = fields
        func number() -> UInt64? { fields.popFirst().flatMap { UInt64($0) } }
        func count() -> Int? { fields.popFirst().flatMap { Int($0) } }
        switch sign {
        case "+":
            guard let number = number() else { return nil }
            self = .event(number: number, json: json)
        case "&":
            guard let number = number(), let count = count(), let key = EventDrops.Key(fields: fields) else {
                return nil
            }
            self = .report(number: number, drop: key, count: count, json: json)
        case "-":
            guard let number = number() else { return nil }
            self = .acknowledged(through: number)
        case "~":
            guard let reason = fields.popFirst().flatMap(EventDropReason.init(rawValue:)) else { return nil }
            self = .dropped(fields.compactMap { UInt64($0) }, reason)
        case "=":
            guard let count = count(), let key = EventDrops.Key(fields: fields) else { return nil }
            self = .counted(key, count)
        case "!": self = .restarted
        default: return nil
        }
    }

    private var sign: Character {
        switch self {
        case .event: "+"
        case .report: "&"
        case .acknowledged: "-"
        case .dropped: "~"
        case .counted: "="
        case .restarted: "!"
        }
    }

    private var fields: [String] {
        switch self {
        case .event(let number, _): [String(number)]
        case .report(let number, let key, let count, _): [String(number), String(count)] + key.fields
        case .acknowledged(let number): [String(number)]
        case .dropped(let numbers, let reason): [reason.rawValue] + numbers.map(String.init)
        case .counted(let key, let count): [String(count)] + key.fields
        case .restarted: []
        }
    }

    private var json: [UInt8] {
        switch self {
        case .event(_, let json), .report(_, _, _, let json): json
        case .acknowledged, .dropped, .counted, .restarted: []
        }
    }

    private static let blank = UInt8(ascii: " ")

    private static func hexHash(of content: some Sequence<UInt8>) -> String {
        let digits = String(StableHash.hash(content), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension EventDrops.Key {
    /// The reason, whether the events were a test's, and the user's id in Base64, if it is known.
    fileprivate var fields: [String] {
        [reason.rawValue, isTest ? "test" : "", userID.map { Data($0.utf8).base64EncodedString() } ?? ""]
    }

    fileprivate init?(fields: ArraySlice<String>) {
        let fields = Array(fields)
        guard fields.count == 3, let reason = EventDropReason(rawValue: fields[0]),
            let user = Data(base64Encoded: fields[2])
        else { return nil }
        self.init(
            userID: user.isEmpty ? nil : String(decoding: user, as: UTF8.self), isTest: fields[1] == "test",
            reason: reason)
    }
}

import Foundation
import Testing

@testable import PointsOfInterestClient

@Suite("A line of a queue's file")
struct JournalRecordTests {
    private static let key = EventDrops.Key(userID: "a: b\né", isTest: true, reason: .refused)
    private static let records: [JournalRecord] = [
        .event(number: 1, json: Array(#"{"a": "b c:d"}"#.utf8)),
        .report(number: .max - 1, drop: key, count: 3, json: Array("{}".utf8)),
        .report(
            number: 2, drop: EventDrops.Key(userID: nil, isTest: false, reason: .damaged), count: 1,
            json: Array("{}".utf8)),
        .acknowledged(through: 42), .dropped([1, 5, 7], .full), .counted(key, 9),
        .restarted,
    ]

    @Test("A line reads back as its record", arguments: records)
    func roundTrips(record: JournalRecord) {
        #expect(record.line.last == UInt8(ascii: "\n"))
        #expect(record.line.count { $0 == UInt8(ascii: "\n") } == 1)
        #expect(JournalRecord(line: record.line.dropLast()) == record)
    }

    @Test("A line is damaged where any byte is changed or missing", arguments: records)
    func noticesDamage(record: JournalRecord) {
        let line = Array(record.line.dropLast())
        for index in line.indices {
            var changed = line
            changed[index] ^= 1
            #expect(JournalRecord(line: changed[...]) == nil)
            #expect(JournalRecord(line: line[..<index]) == nil)
        }
    }
}

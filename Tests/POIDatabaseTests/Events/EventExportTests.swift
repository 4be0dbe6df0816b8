import Locking
import EventLoop
import Foundation
import Loopback
import Places
import PrivateCluster
import Testing

@testable import POIDatabase

@Suite("The export of events", .timeLimit(.minutes(5)))
struct EventExportTests {
    private static let id = UUID(uuidString: "3F5A2C1E-0000-4000-8000-00000000ABCD") ?? UUID()

    /// What an export writes.
    private func lines(
        _ database: TestDatabase, _ format: EventExport.Format = .ndjson, since: Int64 = 0,
        until: Int64? = nil, includesTests: Bool = false
    ) async throws -> [String] {
        let export = EventExport(
            try database.configuration(),
            EventExport.Selection(
                sinceMicroseconds: since, untilMicroseconds: until, includesTests: includesTests),
            format: format)
        let written = Lock("")
        let count = try await offPool {
            try export.run { line in
                written.withLock { $0 += String(decoding: line, as: UTF8.self) }
            }
        }
        let lines = written.withLock { $0 }.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.last == "")
        #expect(count == lines.count - (format == .csv ? 2 : 1))
        return lines.dropLast().map(String.init)
    }

    private func store(_ events: [StoredEvent], in database: TestDatabase) async throws {
        try await database.withEventStore { store, _ in _ = try await store.store(events) }
    }

    @Test("A line is the event in the shape in which it was sent, to the byte")
    func shape() async throws {
        let database = try MigratedDatabase.empty()
        try await store(
            [
                .test(
                    id: Self.id, seconds: 1_536_753_250.92, userID: "a \"user\"\n\u{1F30D}",
                    name: "page-view",
                    value: #"{"page": "a\\b\"c\n\u0001", "n": [1.5, null]}"#)
            ], in: database)
        try database.execute("UPDATE events SET received_at = '2026-11-01 12:00:00.5+00'")
        #expect(
            try await lines(database) == [
                #"{"id":"3f5a2c1e-0000-4000-8000-00000000abcd","user_id":"a \"user\"\n"#
                    + "\u{1F30D}"
                    + #"","time":1536753250.92,"event":{"name":"page-view","value":{"n": [1.5, null], "page": "a\\b\"c\n\u0001"}},"received_at":1793534400.5}"#
            ])
    }

    @Test("An exported event without a value has no value, and one of a test is marked as one")
    func withoutValues() async throws {
        let database = try MigratedDatabase.empty()
        try await store([.test(id: Self.id, seconds: 7, isTest: true)], in: database)
        try database.execute("UPDATE events SET received_at = 'epoch'")
        #expect(
            try await lines(database, includesTests: true) == [
                #"{"id":"3f5a2c1e-0000-4000-8000-00000000abcd","user_id":"user","time":7,"event":{"name":"launch"},"received_at":0,"test":true}"#
            ])
    }

    @Test("A CSV export has a header and a line for each event, and quotes fields that need it")
    func csv() async throws {
        let database = try MigratedDatabase.empty()
        #expect(try await lines(database, .csv) == ["id,user_id,time,received_at,name,value,test"])
        try await store(
            [.test(id: Self.id, seconds: 1_536_753_250.92, userID: "a,b", value: #"{"page": "x"}"#)],
            in: database)
        try database.execute("UPDATE events SET received_at = '2026-11-01 12:00:00.5+00'")
        #expect(
            try await lines(database, .csv) == [
                "id,user_id,time,received_at,name,value,test",
                "3f5a2c1e-0000-4000-8000-00000000abcd,\"a,b\",2018-09-12 11:54:10.92+00,"
                    + "2026-11-01 12:00:00.5+00,launch,\"{\"\"page\"\": \"\"x\"\"}\",f",
            ])
    }

    @Test("An export has the events received in a range of time, and those of tests only if asked for")
    func selection() async throws {
        let database = try MigratedDatabase.empty()
        try await store((0..<10).map { .test(name: "event-\($0)", isTest: $0 % 2 == 1) }, in: database)
        // A microsecond apart.
        try database.execute(
            "UPDATE events SET received_at = 'epoch'::timestamptz + right(name, 1)::integer * interval '1 microsecond'"
        )
        func names(_ since: Int64, _ until: Int64?, _ includesTests: Bool) async throws -> [Int] {
            try await lines(database, since: since, until: until, includesTests: includesTests)
                .compactMap { $0.firstMatch(of: /"event-(\d)"/)?.output.1 }.compactMap { Int($0) }.sorted()
        }
        #expect(try await names(0, nil, false) == [0, 2, 4, 6, 8])
        #expect(try await names(0, nil, true) == Array(0..<10))
        #expect(try await names(4, 7, true) == [4, 5, 6])
        #expect(try await names(4, 7, false) == [4, 6])
        // Windows that touch have every event once.
        let windows = try await names(0, 3, true) + names(3, 8, true) + names(8, nil, true)
        #expect(windows == Array(0..<10))
    }

    @Test("The progress of an export begins at no event and ends at all of them")
    func progress() async throws {
        let database = try MigratedDatabase.empty()
        try await store((0..<50).map { _ in .test() }, in: database)
        let export = EventExport(
            try database.configuration(), EventExport.Selection(sinceMicroseconds: 0), format: .csv)
        let steps = Lock<[[Int]]>([])
        _ = try await offPool {
            try export.run(write: { _ in }) { done, total in steps.withLock { $0.append([done, total]) } }
        }
        // The header is no event.
        #expect(steps.withLock { $0 } == [[0, 50]] + (0...50).map { [$0, 50] })
    }
}

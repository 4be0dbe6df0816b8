import EventLoop
import Foundation
import Loopback
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import PrivateCluster
import Testing

@testable import POIDatabase
@testable import Program

@Suite("Reports in PostgreSQL", .timeLimit(.minutes(5)))
struct ReportStoreTests {
    private let database: TestDatabase

    init() throws { database = try MigratedDatabase.empty() }

    /// Runs a closure with a store, whose reports are kept for some days.
    private func withStore<Value: Sendable>(
        days: Int = 180, _ body: @escaping @Sendable (PostgresEditStore) async throws -> Value
    ) async throws -> Value {
        var reader = SettingsReader(
            flags: [:],
            environment: [
                "DATABASE_URL": database.connectionString, "POI_DB_ACQUIRE_TIMEOUT": "60s",
                "POI_REPORTS_RETENTION": "\(days) days",
            ])
        let configuration = try EditDatabaseConfiguration(
            from: &reader, database: try DatabaseConfiguration(from: &reader))
        return try await onLoop { loop in
            let store = PostgresEditStore(configuration: configuration, loop: loop)
            let result: Result<Value, any Error>
            do {
                result = .success(try await body(store))
            } catch {
                result = .failure(error)
            }
            await store.close()
            return try result.get()
        }
    }

    @Test("A report is stored once, whole, and shown to editors as it came")
    func whole() async throws {
        let position = try Coordinate(latitude: -12.25, longitude: 179.999999)
        let reports = [
            PlaceReport(place: .max, reason: .closed), PlaceReport(position: position, reason: .missing),
            PlaceReport(
                place: 42, position: position, reason: .other,
                text: String(repeating: "\u{1F30D}", count: 498) + "\r\n"),
        ]
        let page = try await withStore { store in
            for _ in 0..<2 { for report in reports { try await store.store(report) } }
            // Another report with the id of one that is there changes nothing.
            try await store.store(PlaceReport(id: reports[0].id, place: 1, reason: .wrong, text: "x"))
            return try await store.reports(.open, from: nil, count: 10)
        }
        #expect(page.reports.map(\.report) == reports.reversed() && page.next == nil)
        for report in page.reports {
            #expect(report.status == .open && report.note == nil && report.lastChange == nil)
            let age = try Date(report.reportedAt, strategy: .iso8601).timeIntervalSinceNow
            #expect((-60...1).contains(age))
        }
    }

    @Test("Pages follow each other, the newest report first, though others come and go between them")
    func pages() async throws {
        let reports = (1...5).map { PlaceReport(place: $0, reason: .other) }
        let places = try await withStore { store in
            for report in reports { try await store.store(report) }
            let first = try await store.reports(.open, from: nil, count: 2)
            try await store.store(PlaceReport(place: 6, reason: .other))
            #expect(try await store.remove(reports[3].id))
            let second = try await store.reports(.open, from: first.next, count: 2)
            let last = try await store.reports(.open, from: second.next, count: 2)
            #expect(last.next == nil)
            return [first, second, last].map { $0.reports.map(\.report.place) }
        }
        #expect(places == [[5, 4], [3, 2], [1]])
    }

    @Test("An editor's change is kept with the name and the time; what it doesn't name stays")
    func changes() async throws {
        let report = PlaceReport(place: 42, reason: .moved, text: "there")
        try await withStore { store in
            try await store.store(report)
            let done = try #require(
                try await store.change(
                    report.id, ReportChange(status: .done, note: "is\nright"), editor: "anna"))
            #expect(done.report == report && done.status == .done && done.note == "is\nright")
            #expect(done.lastChange?.editor == "anna" && done.lastChange?.time != nil)
            let noted = try await store.change(report.id, ReportChange(note: .some(nil)), editor: "bob")
            #expect(noted?.status == .done && noted?.note == nil && noted?.lastChange?.editor == "bob")
            let rejected = try await store.change(report.id, ReportChange(status: .rejected), editor: "bob")
            #expect(
                try await store.reports(.rejected, from: nil, count: 1).reports == [try #require(rejected)])
            #expect(try await store.reports(.open, from: nil, count: 1).reports == [])
            // Sent again, it stays settled.
            try await store.store(report)
            #expect(try await store.reports(.open, from: nil, count: 1).reports == [])
            #expect(try await store.remove(report.id))
            #expect(try await !store.remove(report.id))
            #expect(try await store.change(report.id, ReportChange(status: .done), editor: "bob") == nil)
        }
        #expect(try database.execute("SELECT count(*) FROM place_reports") == "0")
    }

    @Test("A new report deletes a few that are kept no longer; poi maintain deletes all of them")
    func retention() async throws {
        try await withStore { store in
            for place in 1...30 { try await store.store(PlaceReport(place: place, reason: .other)) }
        }
        let days = "(30 - place_id) * interval '1 day'"
        try database.execute("UPDATE place_reports SET reported_at = now() - interval '1 minute' - \(days)")
        // Those of 4 days ago and later stay: 26 to 30.
        try await withStore(days: 5) { try await $0.store(PlaceReport(place: 31, reason: .other)) }
        let left = "SELECT string_agg(place_id::text, ' ' ORDER BY place_id) FROM place_reports"
        #expect(try database.execute(left) == (11...31).map(String.init).joined(separator: " "))
        var reader = SettingsReader(
            flags: [:],
            environment: ["DATABASE_URL": database.connectionString, "POI_REPORTS_RETENTION": "5 days"])
        let maintenance = try ReportMaintenance(try DatabaseConfiguration(from: &reader), from: &reader)
        #expect(try await offPool { try maintenance.run() } == 15)
        #expect(try database.execute(left) == "26 27 28 29 30 31")
    }

    @Test("The table takes only what the service stores, whoever writes it")
    func checks() throws {
        for values in [
            "gen_random_uuid(), NULL, NULL, NULL, 'other', NULL",
            "gen_random_uuid(), 1, 1, NULL, 'other', NULL",
            "gen_random_uuid(), 1, NULL, NULL, 'bad', NULL", "gen_random_uuid(), 1, NULL, NULL, 'other', ''",
            "gen_random_uuid(), 1, 91, 0, 'other', NULL", "gen_random_uuid(), 1, 0, 181, 'other', NULL",
            "gen_random_uuid(), 1, NULL, NULL, 'other', repeat('x', 501)",
        ] {
            #expect(throws: (any Error).self, "\(values)") {
                try database.execute("SELECT store_place_report(\(values), 180)")
            }
        }
    }
}

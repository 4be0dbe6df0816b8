import EventLoop
import Foundation
import Loopback
import Migrator
import PrivateCluster
import Testing

@testable import POIDatabase
@testable import Program

@Suite("The doctor", .timeLimit(.minutes(5)))
struct DoctorTests {
    private func findings(
        _ database: TestDatabase, connection: String? = nil, _ environment: [String: String] = [:]
    ) async throws -> [String: Finding] {
        let url = connection ?? database.connectionString
        var reader = SettingsReader(
            flags: [:], environment: environment.merging(["DATABASE_URL": url]) { first, _ in first })
        let configuration = try DatabaseConfiguration(from: &reader)
        let doctor = Doctor(
            configuration, events: try EventDatabaseConfiguration(from: &reader, database: configuration),
            reports: try EditDatabaseConfiguration(from: &reader, database: configuration),
            migrations: try MigratedDatabase.directory(), fleet: Doctor.Fleet(servers: 2, loops: 2))
        let findings = try await offPool { try doctor.run() }
        return Dictionary(findings.map { ($0.subject, $0) }) { first, _ in first }
    }

    @Test("A migrated database is good, but for a role that may do everything")
    func migrated() async throws {
        let found = try await findings(try MigratedDatabase.seeded())
        for subject in [
            "database", "privileges", "migrations", "triggers", "connections", "memory", "clock", "reports",
        ] {
            #expect(found[subject]?.grade == .good, "\(subject)")
        }
        #expect(found["role"]?.grade == .warning)
        #expect(found["archive"]?.grade == .warning)
        #expect(found["events"]?.grade == .warning)
    }

    @Test("What a server's role may not do, and a trigger that is disabled, are faults")
    func broken() async throws {
        let database = try MigratedDatabase.seeded()
        let role = "doctor_\(UUID().uuidString.lowercased().filter { $0 != "-" })"
        try database.execute(
            """
            CREATE ROLE \(role) LOGIN CONNECTION LIMIT 9;
            GRANT SELECT ON dataset, dataset_log, datasets, filterable_properties, locations, schema_migrations TO \(role);
            ALTER TABLE locations DISABLE TRIGGER locations_record_deleted;
            """)
        defer { _ = try? database.execute("DROP OWNED BY \(role); DROP ROLE \(role)") }
        let url = database.connectionString.replacingOccurrences(of: "postgres@", with: "\(role)@")
        let found = try await findings(database, connection: url)
        #expect(found["role"]?.grade == .good)
        #expect(found["privileges"]?.grade == .fault)
        #expect(found["privileges"]?.text == "\(role) may not read categories")
        #expect(found["triggers"]?.text == "not active: locations_record_deleted")
        #expect(found["events"]?.text == "\(role) may not add events")
        #expect(found["reports"]?.text == "\(role) may not store what people report")
        // 5 a server: 10 are more than the role's 9.
        #expect(found["connections"]?.grade == .fault)
    }

    @Test("A database without migrations is a fault that names them")
    func empty() async throws {
        let found = try await findings(try TestDatabase())
        #expect(found["migrations"]?.grade == .fault)
        #expect(found["migrations"]?.advice == "run poi migrate up")
        #expect(found["database"]?.grade == .fault)
        #expect(found["events"]?.advice == "run poi migrate up")
        #expect(found["memory"] == nil)
    }

    @Test("Servers for reads are asked, too")
    func replicas() async throws {
        let database = try MigratedDatabase.seeded()
        let gone = 1
        let found = try await findings(
            database, ["POI_READ_DATABASE_URL": "postgresql://postgres@127.0.0.1:\(gone)/places"])
        #expect(found["reads"]?.grade == .warning)
    }

    @Test(
        "Connections are enough for a deployment, or only for its end, or not at all",
        arguments: [(48, 0), (47, 1), (31, 2)])
    func connections(allowed: Int, grade: Int32) {
        var facts = DatabaseFacts()
        facts.connectionLimits = [-1, allowed, 100]
        #expect(facts.connections(each: 16, servers: 2).grade.rawValue == grade)
    }

    @Test("Places that don't fit are a fault, and those that nearly don't are a warning")
    func memory() throws {
        var reader = SettingsReader(flags: [:], environment: ["POI_INDEX_MAX_MEMORY": "21MiB"])
        var index = try IndexConfiguration(from: &reader)
        #expect(index.finding(placeCount: 20_000).grade == .good)
        // 8 of 10 MiB.
        #expect(index.finding(placeCount: 27_000).grade == .warning)
        let finding = index.finding(placeCount: 40_000)
        #expect(finding.grade == .fault)
        // What it advises is enough.
        let advised = try #require(finding.advice?.firstMatch(of: /(\d+MiB) or more/)?.1)
        var again = SettingsReader(flags: [:], environment: ["POI_INDEX_MAX_MEMORY": String(advised)])
        #expect(try IndexConfiguration(from: &again).finding(placeCount: 40_000).grade == .good)
        index.use = .off
        #expect(index.finding(placeCount: 40_000).grade == .good)
    }

    @Test("A folder for places that can't be used, or is too small, is a warning; none is said")
    func keptPlaces() throws {
        var reader = SettingsReader(flags: [:], environment: [:])
        var index = try IndexConfiguration(from: &reader)
        #expect(index.fileFinding(placeCount: 1).text.contains("POI_INDEX_DIR"))
        let folder = KeptPlacesTests.Folder()
        // It needn't be there yet.
        index.directory = IndexDirectory(path: folder.path)
        #expect(index.fileFinding(placeCount: 1000).grade == .good)
        #expect(index.fileFinding(placeCount: 1 << 48).grade == .warning)
        index.directory = IndexDirectory(path: "/proc/self/places")
        #expect(index.fileFinding(placeCount: 1).grade == .warning)
        index.directory = IndexDirectory(path: "\(folder.path)/below/places")
        #expect(index.fileFinding(placeCount: 1).text.contains("No such file"))
    }

    @Test(
        "An archive that fails, or is old, or isn't there",
        arguments: [(nil, 5.0, 2), (9.0, 5.0, 2), (5.0, 9.0, 0), (5.0, nil, 0), (nil, nil, 1)])
    func archive(archived: Double?, failed: Double?, grade: Int32) {
        var facts = DatabaseFacts()
        (facts.archivedAgo, facts.archiveFailedAgo) = (archived, failed)
        #expect(facts.archive.grade.rawValue == grade)
    }

    @Test(
        "A clock is judged by what it is off at least",
        arguments: [(0.9, 0.0, 0), (3.0, 2.5, 0), (-3.0, 0.1, 1), (100, 1, 2)])
    func clock(offset: Double, error: Double, grade: Int32) {
        #expect(Finding("clock", clockOffset: offset, within: error).grade.rawValue == grade)
    }

    @Test("A standby that has bytes to replay lags once its last transaction is old")
    func lag() {
        func grade(_ bytes: Int64, _ age: Duration?, isStandby: Bool = true) -> Finding.Grade {
            Finding(
                "reads", isStandby: isStandby, bytesBehind: bytes, sinceLastTransaction: age,
                maximumLag: .seconds(10)
            ).grade
        }
        #expect(grade(0, .seconds(500)) == .good)
        #expect(grade(5000, .seconds(1)) == .good)
        #expect(grade(5000, .seconds(11)) == .warning)
        #expect(grade(5000, nil, isStandby: false) == .good)
    }
}

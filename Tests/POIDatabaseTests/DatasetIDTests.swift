import Foundation
import Locking
import Postgres
import PrivateCluster
import Testing

@testable import POIDatabase

/// The id that changes whenever places, categories or datasets do: see `Migrations/0205_create_dataset_log.sql`.
@Suite("The dataset's id", .timeLimit(.minutes(5)))
struct DatasetIDTests {
    private static let insertion = """
        INSERT INTO locations (name, category, latitude, longitude) VALUES ('A place', 'museum', 1, 2)
        """
    private static let currentID = "SELECT id::text FROM dataset"

    /// Where statements that look costly are compiled before they run (`jit`, PostgreSQL's manual), and 100,000 is it.
    @Test("PostgreSQL estimates a low cost for reading the dataset's id, also without statistics")
    func cost() throws {
        let text = try MigratedDatabase.empty().execute(
            "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT id FROM dataset")
        let explanations = try JSONDecoder().decode([Explanation].self, from: Data(text.utf8))
        #expect(try #require(explanations.first).plan.cost < 1000, "\(text)")
    }

    @Test(
        "A transaction that writes places, categories or datasets renews the id once, and notifies at its commit",
        arguments: [
            ["INSERT INTO locations (name, category, latitude, longitude) VALUES ('B', 'museum', 1, 2)"],
            ["UPDATE locations SET featured = true"], ["DELETE FROM locations"], ["TRUNCATE locations"],
            ["INSERT INTO categories VALUES ('new_kind')"],
            ["INSERT INTO datasets VALUES ('set', 'CC0-1.0')"], ["TRUNCATE datasets"],
            ["INSERT INTO filterable_properties VALUES ('open', 'boolean')"],
            ["TRUNCATE filterable_properties"],
            [
                "UPDATE locations SET featured = true", "INSERT INTO categories VALUES ('new_kind')",
                "SAVEPOINT s", "DELETE FROM locations", "ROLLBACK TO s", "UPDATE locations SET name = 'C'",
            ],
            ["COPY locations (name, category, latitude, longitude) FROM '/dev/null'"],
        ])
    func renewal(statements: [String]) async throws {
        let script = (["BEGIN"] + statements + ["COMMIT"]).joined(separator: ";")
        let (before, after, heard) = try await change(by: script)
        #expect(before != after)
        #expect(heard == [after])
    }

    @Test(
        "The id stays if nothing is committed, or only other tables are written",
        arguments: [
            "BEGIN; UPDATE locations SET featured = true; ROLLBACK",
            "BEGIN; SAVEPOINT s; DELETE FROM locations; ROLLBACK TO s; COMMIT",
            "CREATE TABLE other (n int); INSERT INTO other VALUES (1)",
            "SELECT count(*) FROM locations", "ANALYZE locations",
        ])
    func noRenewal(script: String) async throws {
        let (before, after, heard) = try await change(by: script)
        #expect(before == after)
        #expect(heard == [])
    }

    /// Runs a script on a table with one place; returns the id before and after it, and what was notified.
    private func change(
        by script: String
    ) async throws -> (before: String, after: String, heard: [String]) {
        let database = try MigratedDatabase.empty()
        try database.execute(Self.insertion)
        return try await database.withSession { session in
            let (notifications, feed) = AsyncStream.makeStream(of: PostgresNotification.self)
            session.onNotification = { feed.yield($0) }
            for channel in ["dataset_renewed", "last"] { try await session.run("LISTEN \(channel)") }
            let before = try await session.value(Self.currentID, as: String.self)
            // psql commits each statement by itself.
            try database.execute(script)
            try database.execute("NOTIFY last")
            var heard: [String] = []
            for await notification in notifications {
                if notification.channel == "last" { break }
                heard.append(notification.payload)
            }
            #expect(try await session.value("SELECT count(*) FROM dataset_changes", as: Int.self) == 0)
            return (before, try await session.value(Self.currentID), heard)
        }
    }

    @Test("Two writers of several statements each don't wait for each other before they commit")
    func interleavedWriters() async throws {
        let database = try MigratedDatabase.empty()
        try await database.withSessions(2) { sessions in
            let before = try await sessions[0].value(Self.currentID, as: String.self)
            // A statement that waited for the other session would be ended by the time-out, as a failure.
            for session in sessions { try await session.run("SET statement_timeout = '10s'") }
            for session in sessions { try await session.run("BEGIN") }
            for _ in 0..<3 {
                for session in sessions { try await session.run(Self.insertion) }
                for session in sessions.reversed() {
                    try await session.run(
                        "INSERT INTO categories VALUES ('kind_\(session.backendProcessID)') "
                            + "ON CONFLICT DO NOTHING")
                }
            }
            try await sessions[0].run("COMMIT")
            let between = try await sessions[0].value(Self.currentID, as: String.self)
            try await sessions[1].run("COMMIT")
            let after = try await sessions[0].value(Self.currentID, as: String.self)
            #expect(Set([before, between, after]).count == 3)
            #expect(try await sessions[0].value("SELECT count(*) FROM locations", as: Int.self) == 6)
        }
    }

    @Test("The id has one row, and has one again after somebody has deleted the log")
    func onlyRow() async throws {
        try await MigratedDatabase.empty().withSession { session in
            for second in [
                "INSERT INTO dataset_log VALUES (1)", "INSERT INTO dataset_log (id) VALUES (NULL)",
            ] {
                await #expect(throws: PostgresError.self) { try await session.run(second) }
            }
            for deletion in ["DELETE FROM dataset_log", "TRUNCATE dataset_log"] {
                try await session.run(Self.insertion)
                #expect(try await session.value("SELECT count(*) FROM dataset", as: Int.self) == 1)
                try await session.run(deletion)
                #expect(try await session.value("SELECT count(*) FROM dataset", as: Int.self) == 0)
                try await session.run(Self.insertion)
                #expect(try await session.value("SELECT count(*) FROM dataset", as: Int.self) == 1)
            }
        }
    }

    @Test("A restored dump has another id, and has none before it is complete")
    func restore() async throws {
        let original = try MigratedDatabase.empty()
        try original.execute(Self.insertion)
        let copy = try TestDatabase()
        let dump = try original.cluster.dump(database: original.name)
        try copy.cluster.restore(dump, database: copy.name, sections: ["pre-data", "data"])
        #expect(try copy.execute("SELECT count(*) FROM locations") == "1")
        let failure = #expect(throws: PrivateClusterError.self) { try copy.execute(Self.currentID) }
        #expect("\(try #require(failure))".contains("has not been populated"))
        try copy.cluster.restore(dump, database: copy.name, sections: ["post-data"])

        let log = "SELECT * FROM dataset_log ORDER BY revision"
        #expect(try copy.execute(log) == original.execute(log))
        #expect(try copy.execute(Self.currentID) != original.execute(Self.currentID))
        let before = try copy.execute(Self.currentID)
        try copy.execute(Self.insertion)
        #expect(try copy.execute(Self.currentID) != before)
    }
}

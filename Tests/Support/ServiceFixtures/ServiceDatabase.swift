import Foundation
import Loopback
import PrivateCluster
import ServerProcess

/// Databases for tests of the service, in the cluster that this process's tests share.
package enum ServiceDatabase {
    /// `poi migrate` failed to prepare the database.
    package struct MigrationFailed: Error {
        package let result: PoiProgram.Result
    }

    private static let template = Task {
        let database = try TestDatabase()
        let result = try await PoiProgram.run(
            ["migrate", "up", "--seeds"], environment: ["DATABASE_URL": database.connectionString])
        guard result.exitCode == 0 else { throw MigrationFailed(result: result) }
        return database
    }

    /// A fresh database with the schema and the seeds.
    package static func migrated() async throws -> TestDatabase {
        let template = try await template.value
        return try await offPool { try TestDatabase(template: template) }
    }

    /// A fresh database with nothing in it.
    package static func empty() async throws -> TestDatabase {
        try await offPool { try TestDatabase() }
    }
}

/// A session with a database, through `psql`, that can hold locks while the service works.
package struct DatabaseSession {
    private let psql: ChildProgram

    package init(_ url: String) throws {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        psql = try ChildProgram(
            executable: "/usr/bin/env",
            arguments: ["psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--file=-", url],
            environment: ["PATH": path, "PGAPPNAME": "service-process-tests"])
    }

    /// Runs statements and returns their rows, one a line, once the last has ended.
    @discardableResult
    package func run(_ sql: String) async throws -> [String] {
        let marker = "ran-\(UUID().uuidString)"
        let count = psql.output.lines.count
        psql.write("\(sql); SELECT '\(marker)';")
        _ = try await psql.output.line(after: count) { $0.text == marker }
        return psql.output.lines.dropFirst(count).filter { $0.text != marker }.map(\.text)
    }

    /// Evaluates the condition again until it is true.
    package func wait(until condition: String) async throws {
        while try await run("SELECT \(condition)") != ["t"] { try Task.checkCancellation() }
    }

    /// Locks the table of places, so that every query for places waits.
    package func lockPlaces() async throws {
        try await run("BEGIN; LOCK TABLE locations IN ACCESS EXCLUSIVE MODE")
    }

    /// Waits until queries of the service wait for that lock.
    package func waitForBlockedQueries(_ count: Int = 1) async throws {
        try await wait(until: "count(*) >= \(count) FROM pg_locks WHERE \(Self.isBlockedQuery)")
    }

    /// Waits until no query of the service waits for that lock any more.
    package func waitForNoBlockedQuery() async throws {
        try await wait(until: "count(*) = 0 FROM pg_locks WHERE \(Self.isBlockedQuery)")
    }

    /// The table has the same number in every copy of a database.
    private static let isBlockedQuery = """
        NOT granted AND relation = 'locations'::regclass
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """

    /// Lets the waiting queries go on.
    package func unlockPlaces() async throws {
        try await run("ROLLBACK")
    }
}

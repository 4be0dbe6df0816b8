import EventLoop
import Foundation
import Locking
import Loopback
import Migrator
import Postgres
import PrivateCluster
import Testing

/// A database with a folder of migrations for it.
struct Scene: Sendable {
    let database: TestDatabase
    let folder: MigrationFolder

    init(_ files: [String: String]) throws {
        database = try TestDatabase()
        folder = try MigrationFolder(files)
    }

    /// Runs `body` on a loop of its own with a migrator that reads the folder as it is now.
    func withMigrator<Value: Sendable>(
        seeds: Bool = false, lockWaitLimit: Duration = .seconds(60),
        recorder: EventRecorder = EventRecorder(),
        _ body: @escaping @Sendable (Migrator) async throws -> Value
    ) async throws -> Value {
        let configuration = try PostgresConfiguration(conninfo: database.connectionString)
        let directory = try folder.directory()
        return try await onLoop { loop in
            var migrator = Migrator(configuration, directory: directory, loop: loop)
            migrator.includesSeeds = seeds
            migrator.lockWaitLimit = lockWaitLimit
            migrator.onEvent = { recorder.record($0) }
            return try await body(migrator)
        }
    }

    @discardableResult
    func run(
        _ command: MigrationPlan.Command, seeds: Bool = false, recorder: EventRecorder = EventRecorder()
    ) async throws -> [String] {
        try await withMigrator(seeds: seeds, recorder: recorder) { migrator in
            try await migrator.run(command).steps.map(\.description)
        }
    }

    /// Runs `body` while a session of its own holds a lock that a migration can wait for: the advisory lock 42.
    func holdingGate<Value: Sendable>(
        _ body:
            @escaping @Sendable (_ open: @escaping @Sendable () async throws -> Void) async throws -> Value
    ) async throws -> Value {
        let configuration = try PostgresConfiguration(conninfo: database.connectionString)
        return try await onLoop { loop in
            let connection = try await PostgresConnection.connect(configuration, loop: loop)
            let bound = LoopBound(connection, loop: loop)
            _ = try await connection.query("BEGIN")
            _ = try await connection.query("SELECT pg_advisory_xact_lock(42)")
            do {
                let value = try await body {
                    _ = try await bound.value.query("ROLLBACK")
                }
                await connection.close()
                return value
            } catch {
                await connection.close()
                throw error
            }
        }
    }

    var versions: String {
        get throws {
            try database.execute("SELECT string_agg(version, ',' ORDER BY version) FROM schema_migrations")
        }
    }

    func hasTable(_ name: String) throws -> Bool {
        try database.execute("SELECT to_regclass('\(name)') IS NOT NULL") == "t"
    }
}

/// A folder of migrations for a test; removed with its last reference.
final class MigrationFolder: Sendable {
    let path: String

    init(_ files: [String: String] = [:]) throws {
        path = FileManager.default.temporaryDirectory.appending(path: "migrations-\(UUID().uuidString)")
            .path()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, content) in files { try write(name, content) }
    }

    /// Writes a file; `Seeds/…` for a seed.
    func write(_ name: String, _ content: String) throws {
        let file = URL(filePath: "\(path)/\(name)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try content.write(to: file, atomically: true, encoding: .utf8)
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }

    func directory() throws -> MigrationDirectory {
        try MigrationDirectory(path: path)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A file's text from its two halves.
func migration(up: String, down: String = "", options: String = "") -> String {
    "-- migrate:up \(options)\n\(up)\n-- migrate:down\n\(down)\n"
}

/// Collects a run's events, and wakes whoever waits for one.
final class EventRecorder: Sendable {
    private let (stream, continuation) = AsyncStream.makeStream(of: MigrationEvent.self)
    private let recorded = Lock<[MigrationEvent]>([])

    var events: [MigrationEvent] { recorded.withLock { $0 } }

    func record(_ event: MigrationEvent) {
        recorded.withLock { $0.append(event) }
        continuation.yield(event)
    }

    /// Waits until something for which `matches` is true has happened. For one waiter at a time.
    func wait(until matches: (MigrationEvent) -> Bool) async {
        for await event in stream where matches(event) { return }
    }
}

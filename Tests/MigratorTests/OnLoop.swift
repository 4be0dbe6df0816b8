import EventLoop
import Loopback
import Migrator
import Postgres
import PrivateCluster
import Testing

/// A database with a folder of migrations for it.
struct Scene: Sendable {
    let database: TestDatabase
    let folder: MigrationFolder
    /// The numbers of former files that those in the folder replace.
    let replaced: ClosedRange<String>?

    init(_ files: [String: String], replacing replaced: ClosedRange<String>? = nil) throws {
        self.replaced = replaced
        database = try TestDatabase()
        folder = try MigrationFolder(files)
    }

    /// Runs `body` on a loop of its own with a migrator that reads the folder as it is now.
    func withMigrator<Value: Sendable>(
        seeds: Bool = false, lockWaitLimit: Duration = .seconds(60),
        recorder: EventRecorder = EventRecorder(), program: String? = nil,
        _ body: @escaping @Sendable (Migrator) async throws -> Value
    ) async throws -> Value {
        let configuration = try PostgresConfiguration(conninfo: database.connectionString)
        let directory = try folder.directory(replacing: replaced)
        return try await onLoop { loop in
            var migrator = Migrator(configuration, directory: directory, loop: loop)
            migrator.includesSeeds = seeds
            migrator.lockWaitLimit = lockWaitLimit
            migrator.program = program.flatMap { ProgramVersion($0) }
            migrator.onEvent = { recorder.record($0) }
            return try await body(migrator)
        }
    }

    @discardableResult
    func run(
        _ command: MigrationPlan.Command, seeds: Bool = false, isDryRun: Bool = false,
        recorder: EventRecorder = EventRecorder(), program: String? = nil
    ) async throws -> [String] {
        try await withMigrator(seeds: seeds, recorder: recorder, program: program) { migrator in
            try await migrator.run(command, isDryRun: isDryRun).steps.map(\.description)
        }
    }

    /// Runs `body` while a session of its own holds a lock that a migration can wait for: the advisory lock 42, or what
    /// another statement takes.
    func holdingGate<Value: Sendable>(
        _ statement: SQL = "SELECT pg_advisory_xact_lock(42)",
        _ body:
            @escaping @Sendable (_ open: @escaping @Sendable () async throws -> Void) async throws -> Value
    ) async throws -> Value {
        let configuration = try PostgresConfiguration(conninfo: database.connectionString)
        return try await onLoop { loop in
            let connection = try await PostgresConnection.connect(configuration, loop: loop)
            let bound = LoopBound(connection, loop: loop)
            _ = try await connection.query("BEGIN")
            _ = try await connection.query(PostgresQuery(statement))
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

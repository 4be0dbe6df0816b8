import EventLoop
import Foundation
import Loopback
import Migrator
import Postgres
import PrivateCluster

@testable import POIDatabase
@testable import Program

/// Databases with the real migrations: copies of one that is migrated once a process.
enum MigratedDatabase {
    private static let schemaTemplate = Result { try make(seeds: false) }
    private static let seededTemplate = Result { try make(seeds: true) }

    /// The repository's `Migrations`.
    static let migrationsPath = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Migrations").standardizedFileURL.path(percentEncoded: false)

    /// The files there.
    static func directory() throws -> MigrationDirectory {
        var reader = SettingsReader(flags: [:], environment: ["POI_MIGRATIONS_DIR": migrationsPath])
        return try MigrationSettings(from: &reader).directory()
    }

    /// A database with the schema and no places.
    static func empty() throws -> TestDatabase {
        try TestDatabase(template: schemaTemplate.get())
    }

    /// A database with the schema and the seeds.
    static func seeded() throws -> TestDatabase {
        try TestDatabase(template: seededTemplate.get())
    }

    private static func make(seeds: Bool) throws -> TestDatabase {
        let database = try TestDatabase()
        try database.migrate(.up, seeds: seeds)
        return database
    }
}

extension TestDatabase {
    /// Runs the real migrations, as `poi migrate` does. Blocks.
    func migrate(_ command: MigrationPlan.Command, seeds: Bool = false) throws {
        var reader = settingsReader(["POI_SEEDS": "\(seeds)"])
        let configuration = try DatabaseConfiguration(from: &reader)
        let settings = try MigrationSettings(from: &reader)
        try Migration(configuration, settings: settings) { _ in }.run(command)
    }

    /// The service's configuration for this database, with deadlines that even a busy machine meets.
    func configuration() throws -> DatabaseConfiguration {
        var reader = settingsReader([
            "POI_DB_ACQUIRE_TIMEOUT": "60s", "POI_DB_STATEMENT_TIMEOUT": "60s",
            "POI_REQUEST_TIMEOUT": "120s", "POI_DB_CONNECTIONS": "1",
        ])
        return try DatabaseConfiguration(from: &reader)
    }

    private func settingsReader(_ environment: [String: String]) -> SettingsReader {
        SettingsReader(
            flags: [:],
            environment: environment.merging([
                "DATABASE_URL": connectionString, "POI_MIGRATIONS_DIR": MigratedDatabase.migrationsPath,
            ]) { $1 })
    }
}

extension TestDatabase {
    /// Runs `body` on a loop of its own with a session, and closes it.
    func withSession<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        try await withSessions(1) { try await body($0[0]) }
    }

    /// Runs `body` on a loop of its own with as many sessions, and closes them.
    func withSessions<Value: Sendable>(
        _ count: Int, _ body: @escaping @Sendable ([PostgresConnection]) async throws -> Value
    ) async throws -> Value {
        let configuration = try configuration().postgres
        return try await onLoop { loop in
            var sessions: [PostgresConnection] = []
            let result: Result<Value, any Error>
            do {
                for _ in 0..<count {
                    sessions.append(try await PostgresConnection.connect(configuration, loop: loop))
                }
                result = .success(try await body(sessions))
            } catch {
                result = .failure(error)
            }
            for session in sessions { await session.close() }
            return try result.get()
        }
    }

    /// Runs `body` on a loop of its own with the store without an index over this database, and a session beside it.
    ///
    /// - Parameter usesIndexAlways: a test's tables are so small that the planner would rather read them whole.
    func withStore<Value: Sendable>(
        usesIndexAlways: Bool = false, requestTimeout: Duration? = nil, statementTimeout: Duration? = nil,
        _ body: @escaping @Sendable (PostgresPlaceStore, PostgresConnection) async throws -> Value
    ) async throws -> Value {
        var configuration = try configuration()
        if usesIndexAlways { configuration.postgres.settings.append(.init("enable_seqscan", "off")) }
        if let requestTimeout {
            (configuration.requestTimeout, configuration.pool.acquireTimeout) = (
                requestTimeout, requestTimeout
            )
        }
        let sessionConfiguration = configuration.postgres
        if let statementTimeout { configuration.postgres.statementTimeout = statementTimeout }
        let migrations = try MigratedDatabase.directory()
        return try await onLoop { [configuration] loop in
            let session = try await PostgresConnection.connect(sessionConfiguration, loop: loop)
            let store = PostgresPlaceStore(
                configuration: configuration, migrations: migrations, loop: loop)
            let result: Result<Value, any Error>
            do {
                result = .success(try await body(store, session))
            } catch {
                result = .failure(error)
            }
            await store.close()
            await session.close()
            return try result.get()
        }
    }
}

extension PostgresConnection {
    /// Runs a statement of a test's own source.
    @discardableResult
    func run(_ sql: String, _ parameters: [PostgresValue] = []) async throws -> PostgresRows {
        try await query(PostgresQuery(SQL(unsafeSQL: sql), parameters))
    }

    /// The one value that a statement returns.
    func value<Value: PostgresDecodable>(
        _ sql: String, as type: Value.Type = Value.self
    ) async throws -> Value {
        try await run(sql).only().decode(at: 0)
    }
}

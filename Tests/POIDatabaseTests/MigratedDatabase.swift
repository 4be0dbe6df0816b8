import Foundation
import Migrator
import PrivateCluster
@testable import Program

@testable import POIDatabase

/// Databases with the real migrations: copies of one that is migrated once a process. They are finished: nothing waits for the
/// roll-out any more.
enum MigratedDatabase {
    private static let schemaTemplate = Result { try make(seeds: false) }
    private static let seededTemplate = Result { try make(seeds: true) }
    private static let unfinishedTemplate = Result { try make(seeds: false, finish: false) }

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

    /// A database with the schema and no places, in which servers of the release before still work.
    static func unfinished() throws -> TestDatabase {
        try TestDatabase(template: unfinishedTemplate.get())
    }

    private static func make(seeds: Bool, finish: Bool = true) throws -> TestDatabase {
        let database = try TestDatabase()
        try database.migrate(.up(to: nil, finish: finish), seeds: seeds)
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
            "POI_REQUEST_TIMEOUT": "120s", "POI_DB_FAST_CONNECTIONS": "1",
            "POI_DB_EXCLUSIVE_CONNECTIONS": "1",
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

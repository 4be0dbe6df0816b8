import EventLoop
import Foundation
import Migrator
import Postgres
import Program

/// Runs migrations from a command, on a loop of its own.
package struct Migration: Sendable {
    private let configuration: PostgresConfiguration
    private let settings: MigrationSettings
    private let directory: MigrationDirectory
    private let onEvent: @Sendable (MigrationEvent) -> Void

    /// Migrations of the database that `database` leads to.
    ///
    /// - Parameter onEvent: gets each event as it happens, on the calling thread.
    package init(
        _ database: DatabaseConfiguration, settings: MigrationSettings,
        onEvent: @escaping @Sendable (MigrationEvent) -> Void
    ) throws {
        configuration = database.postgres
        self.settings = settings
        directory = try settings.directory()
        self.onEvent = onEvent
    }

    /// Applies or undoes what the command asks for, and returns the steps. Blocks.
    ///
    /// - Throws: `MigrationError`; `EventLoopError` where no loop can be started. Finished steps stay.
    @discardableResult
    package func run(_ command: MigrationPlan.Command) throws -> MigrationPlan {
        try withMigrator { try await $0.run(command) }
    }

    /// Returns what ``run(_:)`` would do. Blocks.
    package func plan(_ command: MigrationPlan.Command) throws -> MigrationPlan {
        try withMigrator { try await $0.plan(command) }
    }

    /// Returns the state of every migration. Blocks.
    package func status() throws -> MigrationStatus {
        try withMigrator { try await $0.status() }
    }

    /// Checks the applied migrations against the files. Blocks.
    package func validate() throws {
        try withMigrator { try await $0.validate() }
    }

    private func withMigrator<Value: Sendable>(
        _ body: @escaping @Sendable (Migrator) async throws -> Value
    ) throws -> Value {
        try EventLoop.runToCompletion { loop in
            var migrator = Migrator(configuration, directory: directory, loop: loop)
            migrator.includesSeeds = settings.includesSeeds
            migrator.onEvent = onEvent
            return try await body(migrator)
        }
    }
}

/// Where the migrations are, and whether a run applies the seeds too.
package struct MigrationSettings: Sendable {
    /// The folder of the files.
    package let path: String
    /// Whether pending seeds are applied too.
    package let includesSeeds: Bool

    /// Reads the settings.
    ///
    /// - Parameter seedsByDefault: whether seeds are applied where `POI_SEEDS` isn't set.
    /// - Throws: `ConfigurationError` for the first setting that can't be used, and where there is no such folder.
    package init(
        from reader: inout SettingsReader, seedsByDefault: Bool = false
    ) throws(ConfigurationError) {
        path = try reader.read(
            .text(.migrationsDir, "folder of the migrations", default: Self.defaultPath))
        includesSeeds = try reader.read(
            .flag(.seeds, "whether migrating applies the seeds too", default: seedsByDefault))
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            throw ConfigurationError("POI_MIGRATIONS_DIR=\(path): expected the folder of the migrations")
        }
    }

    /// Reads and checks the files.
    ///
    /// - Throws: `MigrationError` for the first file that is not in order; `ConfigurationError` where the folder lacks a file of
    ///   the schema that this program was built with, or has another one of that name. It may have more files.
    package func directory() throws -> MigrationDirectory {
        let directory = try MigrationDirectory(path: path)
        let checksums = Dictionary(directory.files.map { ($0.name, $0.checksum) }) { first, _ in first }
        for (name, checksum) in BuiltInMigrations.schema {
            guard let found = checksums[name] else { throw foreign("has no \(name)") }
            guard found == checksum else { throw foreign("has another \(name)") }
        }
        for (name, checksum) in BuiltInMigrations.seeds where checksums[name] ?? checksum != checksum {
            throw foreign("has another \(name)")
        }
        return directory
    }

    private func foreign(_ fault: String) -> ConfigurationError {
        ConfigurationError(
            "POI_MIGRATIONS_DIR=\(path): expected the migrations that this program was built with; the folder \(fault)"
        )
    }

    /// `Migrations` in the working directory, else the folder that is installed beside the program: `bin/poi` and
    /// `share/poi/Migrations`.
    private static var defaultPath: String {
        let local = "Migrations"
        guard !FileManager.default.fileExists(atPath: local),
            let program = Bundle.main.executableURL?.resolvingSymlinksInPath()
        else { return local }
        let installed = program.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "share/poi/Migrations").path(percentEncoded: false)
        return FileManager.default.fileExists(atPath: installed) ? installed : local
    }
}

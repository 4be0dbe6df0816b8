import EventLoop
import Migrator
import POIService
import Postgres

/// Runs migrations from a command, on a loop of its own.
public struct Migration: Sendable {
    private let configuration: PostgresConfiguration
    private let settings: MigrationSettings
    private let directory: MigrationDirectory
    private let onEvent: @Sendable (MigrationEvent) -> Void

    /// Migrations of the database that `database` leads to.
    ///
    /// - Parameter onEvent: gets what happens, as it happens.
    /// - Throws: `MigrationError` for files that are not in order.
    public init(
        _ database: DatabaseConfiguration, settings: MigrationSettings,
        onEvent: @escaping @Sendable (MigrationEvent) -> Void
    ) throws(MigrationError) {
        configuration = database.postgres
        self.settings = settings
        directory = try settings.directory()
        self.onEvent = onEvent
    }

    /// Applies or undoes what the command asks for, and returns the steps. Blocks.
    @discardableResult
    public func run(_ command: MigrationPlan.Command, isDryRun: Bool = false) throws -> MigrationPlan {
        try withMigrator { try await $0.run(command, isDryRun: isDryRun) }
    }

    /// How every migration stands. Blocks.
    public func status() throws -> MigrationStatus {
        try withMigrator { try await $0.status() }
    }

    /// Checks the applied migrations against the files. Blocks.
    public func validate() throws {
        try withMigrator { try await $0.validate() }
    }

    private func withMigrator<Value: Sendable>(
        _ body: @escaping @Sendable (Migrator) async throws -> Value
    ) throws -> Value {
        try EventLoop.runToCompletion { loop in
            var migrator = Migrator(configuration, directory: directory, loop: loop)
            migrator.includesSeeds = settings.includesSeeds
            migrator.program = ProgramVersion(BuildInformation.version)
            migrator.onEvent = onEvent
            return try await body(migrator)
        }
    }
}

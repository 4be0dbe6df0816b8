import EventLoop
import Migrator
import Postgres
import Program

/// Runs migrations from a command, on a loop of its own.
public struct Migration: Sendable {
    private let configuration: PostgresConfiguration
    private let settings: MigrationSettings
    private let directory: MigrationDirectory
    private let onEvent: @Sendable (MigrationEvent) -> Void

    /// Migrations of the database that `database` leads to.
    ///
    /// - Parameters:
    ///   - database: where the database is.
    ///   - settings: where the files are.
    ///   - onEvent: gets each event as it happens, on the calling thread.
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
    ///
    /// - Throws: `MigrationError`; `EventLoopError` where no loop can be started. Finished steps stay.
    @discardableResult
    public func run(_ command: MigrationPlan.Command, isDryRun: Bool = false) throws -> MigrationPlan {
        try withMigrator { try await $0.run(command, isDryRun: isDryRun) }
    }

    /// Returns the state of every migration. Blocks.
    ///
    /// - Throws: as ``run(_:isDryRun:)``, for the database only.
    public func status() throws -> MigrationStatus {
        try withMigrator { try await $0.status() }
    }

    /// Checks the applied migrations against the files. Blocks.
    ///
    /// - Throws: as ``run(_:isDryRun:)``, where a run would refuse.
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

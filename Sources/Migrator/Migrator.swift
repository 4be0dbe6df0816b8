import EventLoop
import Postgres

/// Applies migrations to a database, one run at a time.
///
/// A run is one direct session, not one through a pooler: it holds an advisory lock from reading what is applied
/// to the last record. A file and its record commit together, so a run that dies leaves whole files behind.
/// The methods must be called on the loop.
public struct Migrator: Sendable {
    /// The files.
    public let directory: MigrationDirectory
    /// Whether pending seeds are applied too.
    public var includesSeeds = false
    /// How long to wait for another run.
    public var lockWaitLimit: Duration = .seconds(600)
    /// The version of this program, for migrations of newer releases; with nil none of those is accepted.
    public var program: ProgramVersion?
    /// Gets what happens, as it happens, on the loop.
    public var onEvent: @Sendable (MigrationEvent) -> Void = { _ in }

    private let configuration: PostgresConfiguration
    private let loop: EventLoop

    /// A migrator for the database that `configuration` leads to.
    public init(_ configuration: PostgresConfiguration, directory: MigrationDirectory, loop: EventLoop) {
        var configuration = configuration
        // What a migration takes, it takes; and it is to see the server's own settings.
        configuration.statementTimeout = nil
        configuration.settings = []
        configuration.preparedStatements = .off
        self.configuration = configuration
        self.directory = directory
        self.loop = loop
    }

    /// Applies or undoes what the command asks for, and returns the steps.
    ///
    /// - Parameter isDryRun: only plans: needs no lock and changes nothing.
    /// - Throws: ``MigrationError``. Steps that were finished before the one that failed stay.
    @discardableResult
    public func run(_ command: MigrationPlan.Command, isDryRun: Bool = false) async throws -> MigrationPlan {
        try await withConnection { connection in
            guard !isDryRun else {
                let plan = try await plan(command, on: connection)
                for step in plan.steps { onEvent(.started(step, isDryRun: true)) }
                if plan.steps.isEmpty { onEvent(.nothingToDo) }
                return plan
            }
            return try await MigrationLock.withLock(
                on: connection, waitingAtMost: lockWaitLimit, onWait: { onEvent(.waitingForLock) }
            ) {
                let plan = try await plan(command, on: connection)
                if plan.steps.isEmpty { onEvent(.nothingToDo) } else { try await prepare(connection) }
                for step in plan.steps { try await perform(step, on: connection) }
                return plan
            }
        }
    }

    /// How every migration stands. Changes nothing.
    public func status() async throws -> MigrationStatus {
        try await withConnection { connection in
            let applied = try await MigrationHistory(connection).applied()
            return MigrationStatus(directory: directory, applied: applied, program: program)
        }
    }

    /// Checks the applied migrations against the files, as every run does first. Changes nothing.
    /// - Throws: ``MigrationError`` where a run would refuse.
    public func validate() async throws {
        try await status().check()
    }

    /// The versions that a database has, newer ones than ours included: for readiness, with
    /// ``MigrationDirectory/missingSchemaVersions(applied:)``.
    public static func appliedVersions(on connection: PostgresConnection) async throws -> Set<String> {
        Set(try await MigrationHistory(connection).applied().map(\.version))
    }

    private func plan(
        _ command: MigrationPlan.Command, on connection: PostgresConnection
    ) async throws -> MigrationPlan {
        let applied = try await MigrationHistory(connection).applied()
        let plan = try MigrationPlan(
            command, directory: directory, applied: applied, includesSeeds: includesSeeds, program: program)
        if !plan.newer.isEmpty { onEvent(.schemaIsNewer(plan.newer)) }
        return plan
    }

    private func prepare(_ connection: PostgresConnection) async throws {
        try await MigrationHistory(connection).prepare()
        connection.onNotice = { [onEvent] report in onEvent(.notice(report.message)) }
    }

    /// Runs `body` with a session of its own; an error of the database becomes a ``MigrationError``.
    private func withConnection<R>(_ body: (PostgresConnection) async throws -> R) async throws -> R {
        do {
            let connection = try await PostgresConnection.connect(configuration, loop: loop)
            do {
                let result = try await body(connection)
                await connection.close()
                return result
            } catch {
                await connection.close()
                throw error
            }
        } catch let error as PostgresError {
            throw MigrationError.databaseFailed(error.serverMessage ?? error.description)
        }
    }
}

import EventLoop
import Postgres

/// Applies migrations to a database, one run at a time.
///
/// A run is one direct session, not one through a pooler: it holds an advisory lock from its first look at the applied
/// rows to its last record. A file and its record commit together, so a run that dies leaves whole files behind. The
/// methods must be called on the loop.
public struct Migrator: Sendable {
    /// The files.
    public let directory: MigrationDirectory
    /// Whether pending seeds are applied too.
    public var includesSeeds = false
    /// How long to wait for another run.
    public var lockWaitLimit: Duration = .seconds(600)
    /// Gets each event as it happens, on the loop.
    public var onEvent: @Sendable (MigrationEvent) -> Void = { _ in }

    /// Undoes a file's changes of the session, so that a file does the same alone and after others, and so that its record
    /// goes to the right table.
    private static let resetSession = "RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL"

    private let configuration: PostgresConfiguration
    private let loop: EventLoop

    /// A migrator for the database that `configuration` leads to.
    public init(_ configuration: PostgresConfiguration, directory: MigrationDirectory, loop: EventLoop) {
        var configuration = configuration
        // A migration may take as long as it needs, and it has the server's own settings.
        configuration.statementTimeout = nil
        configuration.settings = []
        configuration.preparedStatements = .off
        self.configuration = configuration
        self.directory = directory
        self.loop = loop
    }

    /// Applies or undoes what the command asks for, and returns the steps.
    ///
    /// - Parameters:
    ///   - command: what to do.
    ///   - isDryRun: whether to plan only, which needs no lock and changes nothing.
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
                if !plan.steps.isEmpty { try await prepare(connection) }
                for step in plan.steps { try await perform(step, on: connection) }
                if plan.steps.isEmpty { onEvent(.nothingToDo) }
                return plan
            }
        }
    }

    /// Returns the state of every migration. Changes nothing.
    ///
    /// - Throws: ``MigrationError/databaseFailed(_:)``.
    public func status() async throws -> MigrationStatus {
        try await withConnection { connection in
            let applied = try await MigrationHistory(connection).applied()
            return MigrationStatus(directory: directory, applied: applied)
        }
    }

    /// Checks the applied migrations against the files, as every run does first. Changes nothing.
    ///
    /// - Throws: ``MigrationError`` where a run would refuse.
    public func validate() async throws {
        try await status().check()
    }

    private func plan(
        _ command: MigrationPlan.Command, on connection: PostgresConnection
    ) async throws -> MigrationPlan {
        let applied = try await MigrationHistory(connection).applied()
        let plan = try MigrationPlan(
            command, directory: directory, applied: applied, includesSeeds: includesSeeds)
        if !plan.newer.isEmpty { onEvent(.schemaIsNewer(plan.newer)) }
        return plan
    }

    private func prepare(_ connection: PostgresConnection) async throws {
        try await MigrationHistory(connection).prepare()
        connection.onNotice = { [onEvent] report in onEvent(.notice(report.message)) }
    }

    /// Runs one file's SQL and records it.
    private func perform(_ step: MigrationPlan.Step, on connection: PostgresConnection) async throws {
        onEvent(.started(step, isDryRun: false))
        do {
            if step.section.isTransactional {
                try await connection.withTransaction { connection in
                    try await execute(step, on: connection)
                }
            } else {
                // If the run dies before the record, the statement runs again: such files have to be idempotent.
                try await execute(step, on: connection)
            }
        } catch let error as PostgresError {
            // It failed at the record, or at the commit, which checks deferred constraints.
            throw MigrationError(error, in: step, positionIsInFile: false)
        }
        onEvent(.finished(step))
    }

    private func execute(_ step: MigrationPlan.Step, on connection: PostgresConnection) async throws {
        do {
            try await connection.unsafeExecuteScript(step.section.sql)
        } catch let error as PostgresError {
            throw MigrationError(error, in: step, positionIsInFile: true)
        }
        try await connection.unsafeExecuteScript(Self.resetSession)
        try await MigrationHistory(connection).record(step)
    }

    /// Runs `body` with a session of its own; an error of the database becomes a ``MigrationError``.
    private func withConnection<R>(_ body: (PostgresConnection) async throws -> R) async throws -> R {
        do {
            return try await PostgresConnection.withConnection(configuration, loop: loop, body)
        } catch let error as PostgresError {
            throw MigrationError.databaseFailed(error.serverMessage ?? error.description)
        }
    }
}

// MARK: - Events

/// What happens during a run; `description` is one line for a terminal.
public enum MigrationEvent: Sendable, Hashable, CustomStringConvertible {
    /// Another run holds the lock.
    case waitingForLock
    /// A step begins, or in a dry run would begin.
    case started(MigrationPlan.Step, isDryRun: Bool)
    /// A step is done and recorded.
    case finished(MigrationPlan.Step)
    /// The server sent a notice while a file ran.
    case notice(String)
    /// A newer release has applied these.
    case schemaIsNewer([AppliedMigration])
    /// There was nothing to do.
    case nothingToDo

    /// One line for a terminal.
    public var description: String {
        switch self {
        case .waitingForLock: "another run is at work: waiting for it"
        case .started(let step, let isDryRun): (isDryRun ? "would " : "") + "\(step)"
        case .finished(let step): "\(step): done"
        case .notice(let message): "  \(message)"
        case .schemaIsNewer(let migrations):
            "the schema is newer than this program: "
                + migrations.map(\.shownName).joined(separator: ", ")
        case .nothingToDo: "nothing to do"
        }
    }
}

extension MigrationPlan.Step: CustomStringConvertible {
    /// `apply 0202_create_locations` or `undo 0202_create_locations`.
    public var description: String { (direction == .up ? "apply " : "undo ") + file.name }
}

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
    /// How often a file for after the roll-out is tried while others hold its locks, 1 or more.
    public var lockAttemptLimit = 30
    /// The version of this program, to decide about migrations of newer releases; with nil none of those is accepted.
    public var program: ProgramVersion?
    /// Gets each event as it happens, on the loop.
    public var onEvent: @Sendable (MigrationEvent) -> Void = { _ in }

    /// Undoes a file's changes of the session, so that a file does the same alone and after others, and so that its record
    /// goes to the right table.
    private static let resetSession = "RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL"

    /// For files for after the roll-out. Servers are running then, and a statement that waits for a lock makes all later
    /// statements wait behind it. So it waits for less than a request does for a connection (`POI_DB_ACQUIRE_TIMEOUT`), and
    /// then lets the others pass. A file can set another limit for itself.
    private static let boundLockWaits = "SET lock_timeout = '500ms'"
    private static let pauseBetweenAttempts: Duration = .seconds(1)

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
                end(plan)
                return plan
            }
            return try await MigrationLock.withLock(
                on: connection, waitingAtMost: lockWaitLimit, onWait: { onEvent(.waitingForLock) }
            ) {
                let plan = try await plan(command, on: connection)
                if !plan.steps.isEmpty { try await prepare(connection) }
                for step in plan.steps { try await perform(step, on: connection) }
                end(plan)
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
            return MigrationStatus(directory: directory, applied: applied, program: program)
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
            command, directory: directory, applied: applied, includesSeeds: includesSeeds, program: program)
        if !plan.newer.isEmpty { onEvent(.schemaIsNewer(plan.newer)) }
        return plan
    }

    /// Reports that there was nothing to do, and which files wait for the roll-out.
    private func end(_ plan: MigrationPlan) {
        if plan.steps.isEmpty { onEvent(.nothingToDo) }
        if !plan.waiting.isEmpty { onEvent(.waitingForRollOut(plan.waiting)) }
    }

    private func prepare(_ connection: PostgresConnection) async throws {
        try await MigrationHistory(connection).prepare()
        connection.onNotice = { [onEvent] report in onEvent(.notice(report.message)) }
    }

    /// Runs one file. If it is for after the roll-out and others hold its locks, it is tried again and again.
    private func perform(_ step: MigrationPlan.Step, on connection: PostgresConnection) async throws {
        onEvent(.started(step, isDryRun: false))
        var attempt = 1
        while true {
            do {
                try await tryOnce(step, on: connection)
                return onEvent(.finished(step))
            } catch MigrationError.locked where attempt < lockAttemptLimit {
                onEvent(.locked(step, attempt: attempt, limit: lockAttemptLimit))
                attempt += 1
                try await Task.sleep(for: Self.pauseBetweenAttempts)
            }
        }
    }

    /// Runs one file's SQL and records it.
    private func tryOnce(_ step: MigrationPlan.Step, on connection: PostgresConnection) async throws {
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
    }

    private func execute(_ step: MigrationPlan.Step, on connection: PostgresConnection) async throws {
        if step.file.kind == .afterRollOut {
            try await connection.unsafeExecuteScript(Self.boundLockWaits)
        }
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
    /// Others hold the step's locks: it was undone, and is tried again.
    case locked(MigrationPlan.Step, attempt: Int, limit: Int)
    /// A step is done and recorded.
    case finished(MigrationPlan.Step)
    /// The server sent a notice while a file ran.
    case notice(String)
    /// A newer release has applied these, and this program can live with them.
    case schemaIsNewer([AppliedMigration])
    /// There was nothing to do.
    case nothingToDo
    /// These were left out, since servers may still use what they remove.
    case waitingForRollOut([MigrationFile])

    /// One line for a terminal.
    public var description: String {
        switch self {
        case .waitingForLock: "another run is at work: waiting for it"
        case .started(let step, let isDryRun): (isDryRun ? "would " : "") + "\(step)"
        case .locked(let step, let attempt, let limit):
            "\(step): others hold its locks, attempt \(attempt) of \(limit)"
        case .finished(let step): "\(step): done"
        case .notice(let message): "  \(message)"
        case .schemaIsNewer(let migrations):
            "the schema is newer than this program, which can live with it: "
                + migrations.map(\.shownName).joined(separator: ", ")
        case .nothingToDo: "nothing to do"
        case .waitingForRollOut(let files):
            "\(files.count) waiting for the roll-out (\(files.map(\.name).joined(separator: ", "))): once no server is older"
                + (files.compactMap(\.oldestProgram).max().map { " than \($0)" } ?? "")
                + ", apply with --finish"
        }
    }
}

extension MigrationPlan.Step: CustomStringConvertible {
    /// `apply 0103_create_locations` or `undo 0103_create_locations`.
    public var description: String { (direction == .up ? "apply " : "undo ") + file.name }
}

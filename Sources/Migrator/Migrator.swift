import EventLoop
import Postgres

/// Applies migrations to a database, one run at a time.
///
/// A run is one direct session, not one through a pooler, and another one holds a lock until its last record. A file and its
/// record commit together, so a run that dies leaves whole files behind. The methods must be called on the loop.
package struct Migrator: Sendable {
    /// The files.
    package let directory: MigrationDirectory
    /// Whether pending seeds are applied too.
    package var includesSeeds = false
    /// How long to wait for another run.
    package var lockWaitLimit: Duration = .seconds(600)
    /// Gets each event as it happens, on the loop.
    package var onEvent: @Sendable (MigrationEvent) -> Void = { _ in }

    /// Undoes a file's changes of the session, so that a file does the same alone and after others, and so that its record
    /// goes to the right table.
    private static let resetSession = "RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL"

    private let configuration: PostgresConfiguration
    private let loop: EventLoop

    /// A migrator for the database that `configuration` leads to.
    package init(_ configuration: PostgresConfiguration, directory: MigrationDirectory, loop: EventLoop) {
        var configuration = configuration
        // A migration may take as long as it needs, and it has the server's own settings.
        configuration.statementTimeout = nil
        configuration.settings = []
        // Whether there is a pooler is looked for, whatever a setting says of it.
        configuration.preparedStatements = .auto
        self.configuration = configuration
        self.directory = directory
        self.loop = loop
    }

    /// Returns what a run would do. Changes nothing, and needs no lock.
    ///
    /// - Throws: ``MigrationError`` where a run would refuse.
    package func plan(_ command: MigrationPlan.Command) async throws -> MigrationPlan {
        try await withConnection { try await plan(command, on: $0) }
    }

    /// Applies or undoes what the command asks for, and returns the steps.
    ///
    /// - Throws: ``MigrationError``. Steps that were finished before the one that failed stay.
    @discardableResult
    package func run(_ command: MigrationPlan.Command) async throws -> MigrationPlan {
        try await withConnection { connection in
            guard !connection.isPooled else { throw MigrationError.pooled }
            let plan = try await plan(command, on: connection)
            guard !plan.steps.isEmpty else {
                announce(plan)
                return plan
            }
            return try await withLock(on: connection) {
                // Another run may have done some of it meanwhile.
                let plan = try await self.plan(command, on: connection)
                announce(plan)
                connection.onNotice = { [onEvent] report in onEvent(.notice(report.message)) }
                for step in plan.steps { try await perform(step, on: connection) }
                return plan
            }
        }
    }

    /// Returns the state of every migration. Changes nothing.
    package func status() async throws -> MigrationStatus {
        try await withConnection { connection in
            let applied = try await MigrationHistory(connection).applied()
            return MigrationStatus(directory: directory, applied: applied)
        }
    }

    /// Checks the applied migrations against the files, as every run does first. Changes nothing.
    ///
    /// - Throws: ``MigrationError`` where a run would refuse.
    package func validate() async throws {
        try await status().check()
    }

    private func plan(
        _ command: MigrationPlan.Command, on connection: PostgresConnection
    ) async throws -> MigrationPlan {
        let applied = try await MigrationHistory(connection).applied()
        return try MigrationPlan(
            command, directory: directory, applied: applied, includesSeeds: includesSeeds)
    }

    private func announce(_ plan: MigrationPlan) {
        if !plan.newer.isEmpty { onEvent(.schemaIsNewer(plan.newer)) }
        if plan.steps.isEmpty { onEvent(.nothingToDo) }
    }

    /// Makes the table of the applied migrations ready, and runs `body` while another session holds the lock.
    private func withLock<R>(
        on connection: PostgresConnection, _ body: () async throws -> R
    ) async throws -> R {
        let lock = MigrationLock(waitLimit: lockWaitLimit) { onEvent(.waitingForLock) }
        try await MigrationHistory(connection).prepare()
        return try await PostgresConnection.withConnection(configuration, loop: loop) { holder in
            try await holder.withTransaction { holder in
                try await lock.acquire(on: holder)
                return try await body()
            }
        }
    }

    /// Runs one file's SQL and records it.
    private func perform(_ step: MigrationPlan.Step, on connection: PostgresConnection) async throws {
        onEvent(.started(step))
        do {
            if step.section.isTransactional {
                try await connection.withTransaction { connection in
                    let transaction = try await transactionID(connection)
                    try await execute(step) { try await connection.unsafeExecuteScript($0) }
                    guard try await transactionID(connection) == transaction else {
                        throw MigrationError.endedTransaction(name: step.file.name)
                    }
                    try await record(step, on: connection)
                }
            } else {
                // Not as a script: the server would run several statements of one in a transaction, and refuses them here.
                // If the run dies before the record, the statement runs again: such files have to be idempotent.
                try await execute(step) { _ = try await connection.query(PostgresQuery(SQL(unsafeSQL: $0))) }
                try await record(step, on: connection)
            }
        } catch let error as PostgresError {
            // It failed at the record, or at the commit, which checks deferred constraints.
            throw MigrationError(error, in: step, positionIsInFile: false)
        }
        onEvent(.finished(step))
    }

    private func execute(_ step: MigrationPlan.Step, _ run: (String) async throws -> Void) async throws {
        do {
            try await run(step.section.sql)
        } catch let error as PostgresError {
            throw MigrationError(error, in: step, positionIsInFile: true)
        }
    }

    /// The number of the connection's transaction: another one where a file's SQL has ended that which it was run in.
    private func transactionID(_ connection: PostgresConnection) async throws -> String {
        try await connection.query("SELECT pg_current_xact_id()::text").only().decode(at: 0)
    }

    private func record(_ step: MigrationPlan.Step, on connection: PostgresConnection) async throws {
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
package enum MigrationEvent: Sendable, Hashable, CustomStringConvertible {
    /// Another run holds the lock.
    case waitingForLock
    case started(MigrationPlan.Step)
    /// A step is done and recorded.
    case finished(MigrationPlan.Step)
    /// The server sent a notice while a file ran.
    case notice(String)
    case schemaIsNewer([AppliedMigration])
    case nothingToDo

    package var description: String {
        switch self {
        case .waitingForLock: "another run is at work: waiting for it"
        case .started(let step): "\(step)"
        case .finished(let step): "\(step): done"
        case .notice(let message): "  \(message)"
        case .schemaIsNewer(let migrations):
            "the schema is newer than this program: "
                + migrations.map(\.name).joined(separator: ", ")
        case .nothingToDo: "nothing to do"
        }
    }
}

extension MigrationPlan.Step: CustomStringConvertible {
    /// `apply 0202_create_locations` or `undo 0202_create_locations`.
    package var description: String { (direction == .up ? "apply " : "undo ") + file.name }
}

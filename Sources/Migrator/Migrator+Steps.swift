import Postgres

extension Migrator {
    /// What a file may have changed in the session goes back to its start, so that a file means the same alone
    /// and behind others, and the record gets to its table whatever the file set.
    private static let resetSession = "RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL"

    /// Runs one file's SQL and records it.
    func perform(_ step: MigrationPlan.Step, on connection: PostgresConnection) async throws {
        onEvent(.started(step, isDryRun: false))
        do {
            if step.section.isTransactional {
                try await connection.withTransaction { connection in
                    try await execute(step, on: connection)
                }
            } else {
                // If we die before the record, the statement runs again: such files are to be idempotent.
                try await execute(step, on: connection)
            }
        } catch let error as PostgresError {
            // At the record, or at the commit, where deferred constraints speak.
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
}

extension MigrationError {
    /// The server's words on a file's SQL, with the file's line.
    init(_ error: PostgresError, in step: MigrationPlan.Step, positionIsInFile: Bool) {
        var message = error.serverMessage ?? error.description
        if let detail = error.server?.detail { message += "\n  detail: \(detail)" }
        if let hint = error.server?.hint { message += "\n  hint: \(hint)" }
        let position = positionIsInFile ? error.server?.position : nil
        let line = position.map { position in
            // PostgreSQL counts characters, which are code points.
            let before = step.section.sql.unicodeScalars.prefix(max(0, position - 1))
            return step.section.firstLine + before.count { $0 == "\n" }
        }
        self = .statementFailed(name: step.file.name, line: line, message: message)
    }
}

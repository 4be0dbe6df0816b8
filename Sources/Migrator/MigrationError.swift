import Foundation
import Postgres

/// Why migrations were not applied, or not all of them; `description` is one message for a terminal.
package enum MigrationError: Error, Hashable, CustomStringConvertible, LocalizedError {
    case unreadableFolder(String)
    /// A file cannot be read.
    case unreadableFile(String)
    /// A file's name is not `NNNN_verb_object.sql`.
    case malformedName(String)
    /// A file's content is not what it must be.
    case malformedFile(String, line: Int, String)
    /// Two files have the same number.
    case duplicateVersion(String, String)

    case editedFile(name: String)
    /// Versions are applied for which there is no file.
    case missingFiles(versions: [String])
    /// The database was made by a version that was never released.
    case replacedFiles(versions: [String])
    /// A file that isn't applied has a lower number than one that is.
    case outOfOrder(name: String, highestApplied: String)
    /// The file has an empty `-- migrate:down` part.
    case irreversible(name: String)

    /// The file ended the transaction in which it ran and would have been recorded.
    case endedTransaction(name: String)
    /// The connection leads to a pooler.
    case pooled
    /// Another run held the lock for longer than the time limit.
    case lockTimedOut(Duration)
    /// The server refused a file's SQL; `line` is the line of the file.
    case statementFailed(name: String, line: Int?, message: String)
    /// The server refused the run's own bookkeeping, or the connection failed.
    case databaseFailed(String)

    package var description: String {
        switch self {
        case .unreadableFolder(let path): "cannot read the migrations' folder \(path)"
        case .unreadableFile(let path): "cannot read \(path)"
        case .malformedName(let name): "\(name): a migration is called NNNN_verb_object.sql"
        case .malformedFile(let name, let line, let problem): "\(name):\(line): \(problem)"
        case .duplicateVersion(let first, let second): "\(first) and \(second) have the same number"
        case .editedFile(let name):
            "\(name) was edited after it had been applied: restore it, and put the change into a new file"
        case .missingFiles(let versions):
            "applied, but without a file: \(versions.joined(separator: ", ")) (restore the file)"
        case .replacedFiles(let versions):
            "this database was made by a version that was never released (migrations \(versions.first ?? "") to "
                + "\(versions.last ?? "")), and can't be migrated; nothing was changed: make a new one, and import into it"
        case .outOfOrder(let name, let highestApplied):
            "\(name) is new, but \(highestApplied) is applied already: give it a higher number"
        case .irreversible(let name): "\(name) has nothing after `-- migrate:down` and cannot be undone"
        case .endedTransaction(let name):
            "\(name) controls the transaction itself (COMMIT or ROLLBACK), so it isn't recorded, though some of it may be done: "
                + "take that out of the file, and undo by hand what is there"
        case .pooled:
            "the database is reached through a pooler, which may give each statement another session; migrations need one of "
                + "their own: connect to PostgreSQL itself. Nothing was changed"
        case .lockTimedOut(let limit): "another run held the migrations' lock for more than \(limit)"
        case .statementFailed(let name, let line, let message):
            "\(name)\(line.map { ":\($0)" } ?? ""): \(message)"
        case .databaseFailed(let message): "the database: \(message)"
        }
    }

    /// The same message as `description`.
    package var errorDescription: String? { description }
}

extension MigrationError {
    /// What the server says about a file's SQL, with the line in the file where the server gives a position.
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

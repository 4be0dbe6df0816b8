import CLibPQ

/// What went wrong with a query or a connection.
///
/// ``description`` has the code and the SQLSTATE alone: nothing that quotes data, SQL or the server.
package struct PostgresError: Error, Sendable, CustomStringConvertible {
    /// What callers match on.
    package enum Code: Sendable, Hashable {
        /// The connection string or a setting is wrong.
        case invalidConfiguration
        /// A connection could not be made.
        case connectionFailed
        /// The connection ended while the query was in flight: whether it ran is unknown.
        case connectionLost
        case closed
        /// No connection is healthy, and none became so within the acquire time-out; the message says why.
        case unavailable
        /// All connections are taken: none came free within the acquire time-out, or the queue is full.
        case busy
        /// The connection is in the middle of a script or a COPY, or queries are in flight before one.
        case connectionInUse
        /// The query's deadline passed, or the server's `statement_timeout` ended it.
        case queryTimedOut
        /// The task that waited for the query was cancelled.
        case cancelled
        /// The server refused or aborted the statement: see ``PostgresError/sqlState``.
        case server
        /// The values do not fit the statement's parameters in number or type.
        case parameterMismatch
        /// The transaction was rolled back at its commit, because one of its statements had failed.
        case transactionRolledBack
        /// libpq refused to take the command.
        case sendFailed
        case unexpectedResult
        /// A column's value is not what the caller asked for.
        case decoding(DecodingFailure)
    }

    package enum DecodingFailure: Sendable, Hashable {
        /// The result has no such column.
        case noColumn(Int)
        /// Null where the caller asked for a value.
        case null(column: Int)
        /// The column's type cannot become the one asked for.
        case wrongType(column: Int, PostgresType)
        /// The bytes are not a valid value of the type: wrong length, or broken UTF-8.
        case malformed(column: Int)
        case outOfRange(column: Int)
        /// Another number of rows than the caller asked for.
        case rowCount(Int)
    }

    /// What went wrong.
    package let code: Code
    /// What the server reported, if it did: for logs.
    package let server: PostgresServerReport?
    /// libpq's own message where no server sent one (a refused connection): for logs.
    package private(set) var clientMessage: String?
    /// Why the connection could not be made, for ``Code/connectionFailed``.
    package let connectFailure: ConnectFailure?

    package init(_ code: Code, server: PostgresServerReport? = nil, clientMessage: String? = nil) {
        self.code = code
        self.server = server
        self.clientMessage = clientMessage
        connectFailure =
            code == .connectionFailed
            ? ConnectFailure(sqlState: server?.sqlState, text: server?.message ?? clientMessage ?? "") : nil
    }

    /// The same with libpq's message as a log may have it. Its kind was read from the message as it was.
    func redacted(by configuration: PostgresConfiguration) -> PostgresError {
        var error = self
        error.clientMessage = clientMessage.map { configuration.logLine($0) }
        return error
    }

    /// The server's code, if the server reported the error.
    package var sqlState: SQLState? { server?.sqlState }

    /// The server's or libpq's message: for logs, never for a client of the service.
    package var serverMessage: String? { server?.message ?? clientMessage }

    /// The code and the SQLSTATE: nothing that quotes data, SQL or the server.
    package var description: String {
        let suffix = sqlState.map { " (SQLSTATE \($0))" } ?? ""
        return "PostgreSQL: \(code)\(suffix)"
    }

    /// The typed error of a failed result.
    init(report: PostgresServerReport) {
        // Without a SQLSTATE, libpq itself made the result: the connection is gone.
        guard !report.sqlState.rawValue.isEmpty else {
            self.init(.connectionLost, clientMessage: report.message)
            return
        }
        let code: Code =
            if report.endsSession {
                .connectionLost
            } else if report.sqlState == .queryCanceled {
                .queryTimedOut
            } else {
                .server
            }
        self.init(code, server: report)
    }
}

/// The five characters by which PostgreSQL names an error (PostgreSQL manual, appendix A).
package struct SQLState: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The five characters.
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// 0A000: also the error of a prepared statement whose result type a schema change has altered.
    package static let featureNotSupported = SQLState(rawValue: "0A000")
    /// 23505.
    package static let uniqueViolation = SQLState(rawValue: "23505")
    /// 23514: a check, or a partition's bounds.
    package static let checkViolation = SQLState(rawValue: "23514")
    /// 25P02: an earlier statement of the transaction failed.
    package static let inFailedTransaction = SQLState(rawValue: "25P02")
    /// 26000: no prepared statement of that name.
    package static let invalidStatementName = SQLState(rawValue: "26000")
    /// 40001: also a standby's error where a query is in the way of what it has to replay.
    package static let serializationFailure = SQLState(rawValue: "40001")
    /// 40P01: also a standby's error where a query and the replay wait for each other.
    package static let deadlockDetected = SQLState(rawValue: "40P01")
    /// 42883.
    package static let undefinedFunction = SQLState(rawValue: "42883")
    package static let undefinedTable = SQLState(rawValue: "42P01")
    /// 55000: also the error of reading a materialized view before its first refresh.
    package static let objectNotInPrerequisiteState = SQLState(rawValue: "55000")
    /// 55P03: `lock_timeout` has passed, or NOWAIT would have had to wait.
    package static let lockNotAvailable = SQLState(rawValue: "55P03")
    /// 57014: ended by `statement_timeout` or by a cancel request, which can't be told apart.
    package static let queryCanceled = SQLState(rawValue: "57014")

    package var description: String { rawValue }
}

/// An error or a notice as the server reported it (PostgreSQL manual, PQresultErrorField).
///
/// Its texts may quote data and SQL: they are for logs, never for a client of the service.
package final class PostgresServerReport: Sendable {
    /// The code.
    package let sqlState: SQLState
    /// `ERROR`, `FATAL`, `WARNING`, … in English whatever the server's language.
    package let severity: String
    package let message: String
    /// More about the problem.
    package let detail: String?
    /// A suggestion.
    package let hint: String?
    /// Where in the statement the error is: characters, from 1.
    package let position: Int?
    package let constraintName: String?
    let sourceFunction: String?

    var endsSession: Bool { severity == "FATAL" || severity == "PANIC" }

    init(result: OpaquePointer) {
        func field(_ code: Int32) -> String? {
            PQresultErrorField(result, code).map { String(cString: $0) }
        }
        sqlState = SQLState(rawValue: field(Field.sqlState) ?? "")
        severity = field(Field.severity) ?? ""
        message = field(Field.message) ?? String(cString: PQresultErrorMessage(result))
        detail = field(Field.detail)
        hint = field(Field.hint)
        position = field(Field.position).flatMap { Int($0) }
        constraintName = field(Field.constraintName)
        sourceFunction = field(Field.sourceFunction)
    }

    /// postgres_ext.h defines these as character literals, which Swift does not import as `Int32`.
    private enum Field {
        static let severity = code("V")
        static let sqlState = code("C")
        static let message = code("M")
        static let detail = code("D")
        static let hint = code("H")
        static let position = code("P")
        static let constraintName = code("n")
        static let sourceFunction = code("R")

        private static func code(_ letter: Unicode.Scalar) -> Int32 { Int32(letter.value) }
    }
}

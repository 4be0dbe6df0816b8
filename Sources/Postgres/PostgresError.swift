/// What went wrong with a query or a connection.
///
/// ``description`` is bland by design: code and SQLSTATE, nothing that quotes data, SQL or the server.
public struct PostgresError: Error, Sendable, CustomStringConvertible {
    /// What callers match on.
    public enum Code: Sendable, Hashable {
        /// The connection string or a setting is wrong.
        case invalidConfiguration
        /// A connection could not be made.
        case connectionFailed
        /// The connection ended while the query was in flight: whether it ran is unknown.
        case connectionLost
        /// The connection or the pool has been closed.
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
        /// The server's answer is not what the command calls for.
        case unexpectedResult
        /// A column's value is not what the caller asked for.
        case decoding(DecodingFailure)
    }

    /// Why a column could not be decoded.
    public enum DecodingFailure: Sendable, Hashable {
        /// The result has no such column.
        case noColumn(Int)
        /// Null where the caller asked for a value.
        case null(column: Int)
        /// The column's type cannot become the one asked for.
        case wrongType(column: Int, PostgresType)
        /// The bytes are not a valid value of the type: wrong length, or broken UTF-8.
        case malformed(column: Int)
        /// The value exceeds the range of the type asked for.
        case outOfRange(column: Int)
        /// Another number of rows than the caller asked for.
        case rowCount(Int)
    }

    /// What went wrong.
    public let code: Code
    /// What the server said, if it did: for logs.
    public let server: PostgresServerReport?
    /// libpq's own words where no server spoke (a refused connection): for logs.
    public let clientMessage: String?

    /// An error by its code.
    public init(_ code: Code, server: PostgresServerReport? = nil, clientMessage: String? = nil) {
        self.code = code
        self.server = server
        self.clientMessage = clientMessage
    }

    /// The server's code, if the server reported the error.
    public var sqlState: SQLState? { server?.sqlState }

    /// The server's or libpq's message: for logs, never for a client of the service.
    public var serverMessage: String? { server?.message ?? clientMessage }

    /// The code and the SQLSTATE: nothing that quotes data, SQL or the server.
    public var description: String {
        let suffix = sqlState.map { " (SQLSTATE \($0))" } ?? ""
        return "PostgreSQL: \(code)\(suffix)"
    }

    /// The typed error of a failed result.
    init(report: PostgresServerReport) {
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

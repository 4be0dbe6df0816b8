/// The five characters by which PostgreSQL names an error (PostgreSQL manual, appendix A).
public struct SQLState: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The five characters.
    public let rawValue: String

    /// Takes the characters as they are.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// 0A000: also what a prepared statement gets whose result type a schema change altered.
    public static let featureNotSupported = SQLState(rawValue: "0A000")
    /// 22021: text with a byte that the encoding doesn't know, U+0000 included.
    public static let characterNotInRepertoire = SQLState(rawValue: "22021")
    /// 23505.
    public static let uniqueViolation = SQLState(rawValue: "23505")
    /// 23514: a check, or a partition's bounds.
    public static let checkViolation = SQLState(rawValue: "23514")
    /// 25P02: an earlier statement of the transaction failed.
    public static let inFailedTransaction = SQLState(rawValue: "25P02")
    /// 26000: no prepared statement of that name.
    public static let invalidStatementName = SQLState(rawValue: "26000")
    /// 40001: also what a standby answers where a query is in the way of what it replays.
    public static let serializationFailure = SQLState(rawValue: "40001")
    /// 40P01: also what a standby answers where a query waits for what waits for it.
    public static let deadlockDetected = SQLState(rawValue: "40P01")
    /// 42601.
    public static let syntaxError = SQLState(rawValue: "42601")
    /// 42883.
    public static let undefinedFunction = SQLState(rawValue: "42883")
    /// 42P01.
    public static let undefinedTable = SQLState(rawValue: "42P01")
    /// 55000: also what a materialized view answers before its first refresh.
    public static let objectNotInPrerequisiteState = SQLState(rawValue: "55000")
    /// 55P03: `lock_timeout` has passed, or NOWAIT would have had to wait.
    public static let lockNotAvailable = SQLState(rawValue: "55P03")
    /// 57014: ended by `statement_timeout` or by a cancel request, which look the same.
    public static let queryCanceled = SQLState(rawValue: "57014")
    /// 57P01: the backend was terminated, or the server shuts down.
    public static let adminShutdown = SQLState(rawValue: "57P01")

    /// The five characters.
    public var description: String { rawValue }
}

import CLibPQ

/// What the server said of an error or a notice (PostgreSQL manual, PQresultErrorField).
///
/// Its texts may quote data and SQL: they are for logs, never for a client of the service.
public final class PostgresServerReport: Sendable {
    /// The code.
    public let sqlState: SQLState
    /// `ERROR`, `FATAL`, `WARNING`, … in English whatever the server's language.
    public let severity: String
    /// The primary message.
    public let message: String
    /// More about the problem.
    public let detail: String?
    /// A suggestion.
    public let hint: String?
    /// Where in the statement the error is: characters, from 1.
    public let position: Int?
    /// The constraint that was violated.
    public let constraintName: String?
    /// The function of the server's source that reported it.
    let sourceFunction: String?

    /// Whether the backend ends the session with this.
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

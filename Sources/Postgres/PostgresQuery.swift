/// A statement and its bound values, parsed anew each time it runs (an unnamed statement).
///
/// For what runs seldom; what runs often is a ``PreparedStatement``.
public struct PostgresQuery: Sendable, Hashable {
    /// The statement's text.
    public var sql: SQL
    /// The values of `$1`, `$2`, …
    public var parameters: [PostgresValue]

    /// A query with its values.
    public init(_ sql: SQL, _ parameters: [PostgresValue] = []) {
        self.sql = sql
        self.parameters = parameters
    }
}

extension PostgresQuery: ExpressibleByStringLiteral {
    /// A query without parameters.
    public init(stringLiteral value: StaticString) {
        self.init(SQL(stringLiteral: value))
    }
}

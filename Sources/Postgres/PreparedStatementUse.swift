/// Whether statements are kept on the server between queries.
public enum PreparedStatementUse: String, Sendable, CaseIterable {
    /// Where no pooler is seen in between: behind one in transaction mode the next query may meet another
    /// backend.
    case auto
    /// Always: for a pooler that keeps track of them (PgBouncer from 1.21 on, with `max_prepared_statements`).
    case on
    /// Never: each query is parsed anew.
    case off
}

extension PostgresConnection {
    /// Runs a text of one or several statements by the simple protocol, as `psql` would.
    ///
    /// Without a transaction of its own, several statements are one implicit transaction (PostgreSQL manual,
    /// "Multiple Statements in a Simple Query"). Rows are dropped. No other query may be in flight or come in
    /// until it ends (``PostgresError/Code/connectionInUse``); the server's `statement_timeout` applies.
    /// - Parameter sql: unchecked: whoever calls this vouches that none of it comes from outside.
    /// - Throws: ``PostgresError``; the first statement that fails ends the script.
    public func unsafeExecuteScript(_ sql: String) async throws {
        _ = try await unpipelined {
            try await sendSimple(SQL(unsafeSQL: sql))
            return try await finishCommand()
        }
    }
}

extension PostgresConnection {
    /// Sends a query once more whose statement the server has lost or can no longer use.
    ///
    /// Both errors are raised before anything has run. Not inside a transaction, which the error has ended: there the
    /// statement is prepared anew in the next one.
    func retries(_ query: PendingQuery, after error: PostgresError) -> Bool {
        guard isOpen, query.retriedError == nil, error.isStaleStatement,
            case .prepared = query.command, query.sentName != nil
        else { return false }
        forgetPrepared(query)
        guard query.isWaitedFor, !isInTransaction else { return false }
        query.retriedError = error
        send(query)
        return true
    }

    /// Makes the next use of the query's statement prepare it again, under another name.
    func forgetPrepared(_ query: PendingQuery) {
        guard case .prepared(let statement) = query.command,
            preparedNames[statement.id] == query.sentName
        else { return }
        preparedNames[statement.id] = nil
    }
}

extension PostgresError {
    /// Whether the prepared statement is gone (26000: `DISCARD ALL`, a pooler), or its result type has changed
    /// (0A000, which says much else too: plancache.c's function tells).
    var isStaleStatement: Bool {
        sqlState == .invalidStatementName
            || (sqlState == .featureNotSupported && server?.sourceFunction == "RevalidateCachedQuery")
    }
}

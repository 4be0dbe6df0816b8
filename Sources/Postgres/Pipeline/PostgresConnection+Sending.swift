import CLibPQ
import EventLoop

extension PostgresConnection {
    /// Runs a prepared statement, which this connection prepares in the same round trip if it is new to it.
    ///
    /// - Parameters:
    ///   - timeout: after which the caller gets ``PostgresError/Code/queryTimedOut``; the query goes on until the
    ///     server's `statement_timeout` ends it, or is cancelled there if it is in a transaction of its own.
    ///   - deadline: when the caller gets that at the latest, by the loop's clock.
    /// - Throws: ``PostgresError``. Where the task is cancelled, ``PostgresError/Code/cancelled``, at once; if
    ///   the query is the only one in flight, the server is asked to cancel it.
    package func query(
        _ statement: PreparedStatement, _ parameters: [PostgresValue] = [], timeout: Duration? = nil,
        deadline: Duration? = nil
    ) async throws(PostgresError) -> PostgresRows {
        try await run(PendingQuery(.prepared(statement), parameters, timeout: timeout, deadline: deadline))
    }

    /// Runs a query that is parsed anew; otherwise as with a prepared statement.
    package func query(
        _ query: PostgresQuery, timeout: Duration? = nil, deadline: Duration? = nil
    ) async throws(PostgresError) -> PostgresRows {
        try await run(
            PendingQuery(.unnamed(query.sql), query.parameters, timeout: timeout, deadline: deadline))
    }

    /// Runs a query to its end even where the task has been cancelled: for ending transactions.
    func runShielded(_ sql: SQL) async throws(PostgresError) -> PostgresRows {
        let query = PendingQuery(.unnamed(sql), [], timeout: configuration.overrunGrace)
        // No request waits for it.
        query.waits = nil
        return try await query.outcome { submit(query) }.get()
    }

    private func run(_ query: PendingQuery) async throws(PostgresError) -> PostgresRows {
        loop.preconditionInEventLoop()
        try query.validate()
        query.connection = self
        let outcome = await query.outcome(
            on: loop, start: { submit(query) }, cancel: { [self] in cancel(query) })
        return try outcome.get()
    }

    // MARK: Into libpq's buffer

    /// Sends a query whose caller waits, or keeps it until that is possible.
    func submit(_ query: PendingQuery) {
        if let deadline = Duration.earlier(query.timeout.map { loop.now + $0 }, query.expiry) {
            query.deadline = deadline
            query.giveUpTime = deadline + configuration.overrunGrace
        }
        guard isOpen else { return query.complete(with: .failure(PostgresError(.closed))) }
        guard !isUnpipelined else {
            return query.complete(with: .failure(PostgresError(.connectionInUse)))
        }
        if let deadline = query.deadline { watchDeadline(deadline) }
        if cancellation != .none {
            held.append(query)
        } else {
            send(query)
        }
    }

    /// Puts a query into libpq's buffer, which is sent at the end of the turn.
    func send(_ query: PendingQuery) {
        guard isOpen else { return query.complete(with: .failure(endError ?? PostgresError(.closed))) }
        guard send(query, as: preparedName(of: query)), postgres_queue_pipeline_sync(raw) == 1 else {
            // The part that libpq has taken cannot be taken back.
            return end(clientError(PQstatus(raw) == CONNECTION_OK ? .sendFailed : .connectionLost))
        }
        scheduleFlush()
    }

    private func preparedName(of query: PendingQuery) -> String? {
        guard case .prepared(let statement) = query.command else { return nil }
        return preparedNames[statement.id]
    }

    private func send(_ query: PendingQuery, as name: String?) -> Bool {
        var preparing = false
        defer {
            pipeline.value.sent(query, preparing: preparing)
        }
        switch query.command {
        case .prepared(let statement) where keepsStatements:
            if let name {
                query.sentName = name
            } else {
                preparing = true
                query.sentName = prepareName(of: statement)
            }
            return sendPrepared(query, statement, preparing: preparing)
        case .prepared(let statement):
            return sendUnnamed(query, statement.sql)
        case .unnamed(let sql):
            return sendUnnamed(query, sql)
        }
    }

    private func prepareName(of statement: PreparedStatement) -> String {
        // The count makes the name new, since the old one may still be taken where a statement is prepared again.
        preparedCount += 1
        let name = "\(statement.name)_\(preparedCount)"
        preparedNames[statement.id] = name
        return name
    }

    private func sendPrepared(
        _ query: PendingQuery, _ statement: PreparedStatement, preparing: Bool
    ) -> Bool {
        guard let name = query.sentName else { return false }
        return parameterBuffer.value.withArguments(query.parameters) { arguments in
            if preparing {
                guard PQsendPrepare(raw, name, statement.sql.text, arguments.count, arguments.types) == 1
                else { return false }
            }
            return PQsendQueryPrepared(
                raw, name, arguments.count, arguments.values, arguments.lengths, arguments.formats, 1) == 1
        }
    }

    private func sendUnnamed(_ query: PendingQuery, _ sql: SQL) -> Bool {
        parameterBuffer.value.withArguments(query.parameters) { arguments in
            PQsendQueryParams(
                raw, sql.text, arguments.count, arguments.types, arguments.values, arguments.lengths,
                arguments.formats, 1) == 1
        }
    }

    /// Flushes once for everything that this turn of the loop sends.
    private func scheduleFlush() {
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        loop.atEndOfTurn { [self] in
            isFlushScheduled = false
            flush()
        }
    }
}

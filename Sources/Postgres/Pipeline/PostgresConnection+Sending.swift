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
    public func query(
        _ statement: PreparedStatement, _ parameters: [PostgresValue] = [], timeout: Duration? = nil,
        deadline: Duration? = nil
    ) async throws(PostgresError) -> PostgresRows {
        try await run(PendingQuery(.prepared(statement), parameters, timeout: timeout, deadline: deadline))
    }

    /// Runs a query that is parsed anew; otherwise as with a prepared statement.
    public func query(
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
    ///
    /// Queries that may share a Sync do so with those of the same turn, for fewer packets and fewer wake-ups on both
    /// sides.
    func send(_ query: PendingQuery) {
        let name = preparedName(of: query)
        let sharesSync = query.sharesSync && name != nil
        guard isOpen, sharesSync || endGroup() else {
            return query.complete(with: .failure(endError ?? PostgresError(.closed)))
        }
        let isSent = send(query, as: name)
        guard isSent, sharesSync || postgres_queue_pipeline_sync(raw) == 1 else {
            // The part of the group that libpq has taken cannot be taken back.
            return end(clientError(PQstatus(raw) == CONNECTION_OK ? .sendFailed : .connectionLost))
        }
        isGroupOpen = sharesSync
        scheduleFlush()
    }

    /// The name of the query's statement, if it is prepared here, or is just being prepared.
    private func preparedName(of query: PendingQuery) -> String? {
        guard case .prepared(let statement) = query.command else { return nil }
        return preparedNames[statement.id]
    }

    private func send(_ query: PendingQuery, as name: String?) -> Bool {
        var preparing = false
        defer {
            pipeline.value.sent(query, preparing: preparing, endsGroup: !(query.sharesSync && name != nil))
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

    /// Puts a Sync behind queries that share one; false where that has ended the connection.
    private func endGroup() -> Bool {
        guard isGroupOpen else { return true }
        isGroupOpen = false
        pipeline.value.sentSync()
        guard postgres_queue_pipeline_sync(raw) == 1 else {
            end(clientError(PQstatus(raw) == CONNECTION_OK ? .sendFailed : .connectionLost))
            return false
        }
        return true
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
            guard isOpen, endGroup() else { return }
            flush()
        }
    }
}

// MARK: - Transactions

extension PostgresConnection {
    /// Runs `body` in a transaction: committed if it returns, rolled back if it throws.
    ///
    /// Transactions don't nest. A commit of a transaction in which a statement has failed is an error
    /// (``PostgresError/Code/transactionRolledBack``), though the server calls it a success.
    ///
    /// - Throws: what `body` throws; ``PostgresError`` where the transaction can't begin or be committed.
    public func withTransaction<Value>(
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        _ = try await query(PostgresQuery("BEGIN"))
        isInTransaction = true
        defer { isInTransaction = false }
        do {
            let value = try await body(self)
            let commit = try await query(PostgresQuery("COMMIT"))
            guard commit.commandTag == "COMMIT" else { throw PostgresError(.transactionRolledBack) }
            return value
        } catch {
            // Also in a cancelled task, and where the transaction has ended already, which is only a warning.
            await runOrEnd("ROLLBACK")
            throw error
        }
    }

    /// Runs a statement that must not be left out, and closes the connection if it fails, since the session's state is
    /// unknown then.
    func runOrEnd(_ sql: SQL) async {
        guard isOpen else { return }
        do {
            _ = try await runShielded(sql)
        } catch {
            end(error)
        }
    }
}

import CLibPQ
import EventLoop

/// Scripts and COPY, which pipeline mode doesn't allow: each leaves that mode and has the connection to itself.
extension PostgresConnection {
    /// Runs a text of one or several statements by the simple protocol, as `psql` would.
    ///
    /// Without a transaction of its own, several statements are one implicit transaction (PostgreSQL manual,
    /// "Multiple Statements in a Simple Query"). Rows are dropped. No other query may be in flight or come in
    /// until it ends (``PostgresError/Code/connectionInUse``); the server's `statement_timeout` applies.
    ///
    /// - Parameter sql: sent as it is: the caller makes sure that none of it comes from outside.
    /// - Throws: ``PostgresError``; the first statement that fails ends the script.
    package func unsafeExecuteScript(_ sql: String) async throws {
        _ = try await unpipelined {
            try await sendSimple(SQL(unsafeSQL: sql))
            return try await finishCommand()
        }
    }

    // MARK: Outside of pipeline mode

    /// Runs `body` outside of pipeline mode and returns to that mode. Where the task is cancelled, the server is asked
    /// to cancel what it runs.
    func unpipelined<Value>(
        _ body: () async throws -> Value
    ) async throws -> Value {
        loop.preconditionInEventLoop()
        guard isOpen else { throw PostgresError(.closed) }
        guard !Task.isCancelled else { throw PostgresError(.cancelled) }
        guard !isUnpipelined, pipeline.value.count == 0, cancellation == .none, PQexitPipelineMode(raw) == 1
        else {
            throw PostgresError(.connectionInUse)
        }
        isUnpipelined = true
        defer { enterPipelineMode() }
        let bound = LoopBound(self, loop: loop)
        return try await withTaskCancellationHandler {
            try await body()
        } onCancel: {
            bound.loop.execute {
                if bound.value.isUnpipelined { bound.value.sendCancelRequest() }
            }
        }
    }

    private func enterPipelineMode() {
        isUnpipelined = false
        guard isOpen else { return }
        guard PQenterPipelineMode(raw) == 1 else { return end(clientError(.unexpectedResult)) }
        releaseHeld()
    }

    /// Sends text by the simple protocol, which takes several statements.
    func sendSimple(_ sql: SQL) async throws(PostgresError) {
        guard !sql.hasNullByte else { throw PostgresError(.sendFailed) }
        guard PQsendQuery(raw, sql.text) == 1 else { throw clientError(.sendFailed) }
        try await drain()
    }

    /// Waits until everything buffered has been sent.
    func drain() async throws(PostgresError) {
        flush()
        while isOpen && watchesWritable { await scriptWakeUp.sleep() }
        try checkOpen()
    }

    /// The next result, once it is there; nil at the end of the command.
    func nextResult() async throws(PostgresError) -> OpaquePointer? {
        while isOpen && PQisBusy(raw) != 0 { await scriptWakeUp.sleep() }
        try checkOpen()
        return try takeResult()
    }

    /// Waits until more has come in.
    func moreData() async throws(PostgresError) {
        await scriptWakeUp.sleep()
        try checkOpen()
    }

    /// Reads the remaining results; returns the number of rows of the last command, or throws the first error.
    func finishCommand() async throws(PostgresError) -> Int {
        var failure: PostgresError?
        var affectedRows = 0
        while let result = try await nextResult() {
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE:
                failure = failure ?? PostgresError(report: PostgresServerReport(result: result))
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                // libpq would give this result again and again.
                let error = PostgresError(.unexpectedResult)
                end(error)
                throw error
            default:
                affectedRows = PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? affectedRows
            }
        }
        if let failure { throw cancellation == .none ? failure : PostgresError(.cancelled) }
        return affectedRows
    }

    func checkOpen() throws(PostgresError) {
        guard isOpen else { throw endError ?? PostgresError(.closed) }
    }
}

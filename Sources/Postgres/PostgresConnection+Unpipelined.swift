import CLibPQ
import EventLoop

/// What pipeline mode does not allow, scripts and COPY, has the connection to itself, outside of that mode.
extension PostgresConnection {
    /// Runs `body` outside of pipeline mode and returns to it; asks the server to cancel if the task is.
    func unpipelined<Value>(
        _ body: () async throws -> Value
    ) async throws -> Value {
        loop.preconditionInEventLoop()
        guard isOpen else { throw PostgresError(.closed) }
        guard !Task.isCancelled else { throw PostgresError(.cancelled) }
        guard !isUnpipelined, pipeline.count == 0, cancellation == .none, PQexitPipelineMode(raw) == 1 else {
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
        while isOpen && watchesWritable { await nextEvent() }
        try checkOpen()
    }

    /// The next result, once it is there; nil at the end of the command.
    func nextResult() async throws(PostgresError) -> OpaquePointer? {
        while isOpen && PQisBusy(raw) != 0 { await nextEvent() }
        try checkOpen()
        return PQgetResult(raw)
    }

    /// Waits until more has come in.
    func moreData() async throws(PostgresError) {
        await nextEvent()
        try checkOpen()
    }

    /// Reads the remaining results; answers the number of rows of the last command, or throws the first error.
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

    /// Tells the waiting script or COPY that something has happened.
    func wakeScript() {
        eventWaiter?.resume()
        eventWaiter = nil
    }

    private func nextEvent() async {
        await withUnsafeContinuation { eventWaiter = $0 }
    }

    private func checkOpen() throws(PostgresError) {
        guard isOpen else { throw endError ?? PostgresError(.closed) }
    }
}

import CLibPQ
import EventLoop

extension PostgresConnection {
    /// The socket is readable, writable, or broken.
    func handle(_ events: Result<FileDescriptorPoll.Events, EventLoopError>) {
        guard isOpen else { return }
        switch events {
        case .failure(let error):
            // libuv calls every error of a socket EBADF (`uv__poll_io`); libpq reads which one it is.
            receiveLastWords(orElse: "\(error)")
        case .success(let events):
            if events.contains(.writable) { flush() }
            guard isOpen, events.contains(.readable) else { return }
            let isReadable = PQconsumeInput(raw) == 1
            // Also after a failure, since what was received before the end may have the reason.
            if isUnpipelined { scriptWakeUp.wake() } else { receiveResults() }
            receiveNotifications()
            if !isReadable && isOpen { end(clientError(.connectionLost)) }
        }
    }

    /// Sends libpq's buffer, and watches for room in the socket if there is none.
    func flush() {
        guard isOpen else { return }
        let status = PQflush(raw)
        guard status >= 0 else {
            // The server's reason may be waiting to be read; if not, the poll reports the end.
            return receiveLastWords()
        }
        watch(writable: status == 1)
        if isUnpipelined && status == 0 { scriptWakeUp.wake() }
    }

    private func watch(writable: Bool) {
        // Each call of `start` is a system call, so it is called only for a change.
        guard writable != watchesWritable, let poll else { return }
        watchesWritable = writable
        do {
            try poll.start(writable ? [.readable, .writable] : .readable)
        } catch {
            end(PostgresError(.connectionLost, clientMessage: "\(error)"))
        }
    }

    /// Ends a broken connection with the server's last error, or else with libpq's message.
    ///
    /// - Parameter reason: used if libpq has no message.
    private func receiveLastWords(orElse reason: String? = nil) {
        // The first call may read only what came before the error.
        if PQconsumeInput(raw) == 1 {
            if !isUnpipelined { receiveResults() }
            guard isOpen else { return }
            _ = PQconsumeInput(raw)
        }
        if isUnpipelined { scriptWakeUp.wake() } else { receiveResults() }
        guard isOpen else { return }
        let error = clientError(.connectionLost)
        let isSilent = error.clientMessage?.isEmpty ?? true
        end(isSilent ? PostgresError(.connectionLost, clientMessage: reason) : error)
    }

    /// Takes the results that have arrived, without waiting for more.
    private func receiveResults() {
        while isOpen, pipeline.value.count > 0, PQisBusy(raw) == 0 {
            do {
                let result = try takeResult()
                handle(pipeline.value.receive(PipelineStateMachine<PendingQuery>.Received(result)), result)
            } catch {
                end(error)
            }
        }
    }

    /// The next result, which has arrived; nil at the end of a command.
    ///
    /// - Throws: `connectionLost` where libpq has lost the connection and the result is no error. It has forgotten then which
    ///   commands were sent (`pqDropConnection`), and gives a description of rows, behind which the connection was lost, for a
    ///   result without rows (`getRowDescriptions`).
    func takeResult() throws(PostgresError) -> OpaquePointer? {
        let result = PQgetResult(raw)
        // Nil counts as an error here.
        if PQstatus(raw) == CONNECTION_OK || PQresultStatus(result) == PGRES_FATAL_ERROR { return result }
        PQclear(result)
        throw clientError(.connectionLost)
    }

    /// Performs the pipeline's action, and becomes the owner of `result`.
    private func handle(
        _ action: PipelineStateMachine<PendingQuery>.Action, _ result: OpaquePointer?
    ) {
        if case .keepRows(let query) = action, let result {
            query.received = .success(PostgresRows(result: result))
            return
        }
        defer { PQclear(result) }
        switch action {
        case .ignore, .prepared, .keepRows: break
        case .failPreparing(let query):
            forgetPrepared(query)
            keepError(query, result)
        case .keepError(let query):
            keepError(query, result)
        case .finish(let query):
            finish(query)
        case .giveUp:
            end(clientError(PQstatus(raw) == CONNECTION_OK ? .unexpectedResult : .connectionLost))
        }
    }

    private func keepError(_ query: PendingQuery, _ result: OpaquePointer?) {
        guard let result else { return }
        let error = PostgresError(report: PostgresServerReport(result: result))
        query.received = .failure(error)
        if error.code == .connectionLost { end(error) }
    }

    /// The query is over: its caller gets the result, or it is sent once more.
    private func finish(_ query: PendingQuery) {
        let outcome = query.received ?? .failure(PostgresError(.unexpectedResult))
        query.received = nil
        if case .failure(let error) = outcome {
            if retries(query, after: error) { return }
            // In a failed transaction the error of the second try says nothing; the first one's has the reason.
            let isHidden = error.sqlState == .inFailedTransaction
            query.complete(with: .failure(isHidden ? query.retriedError ?? error : error))
        } else {
            query.complete(with: outcome)
        }
        releaseHeld()
        onQueryEnd?()
    }

    // MARK: Sending again

    /// Sends a query once more whose statement the server has lost or can no longer use.
    ///
    /// The server raises both errors before anything has run. Inside a transaction, which the error has ended, nothing
    /// is sent again: the statement is prepared anew in the next transaction.
    private func retries(_ query: PendingQuery, after error: PostgresError) -> Bool {
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
    private func forgetPrepared(_ query: PendingQuery) {
        guard case .prepared(let statement) = query.command,
            preparedNames[statement.id] == query.sentName
        else { return }
        preparedNames[statement.id] = nil
    }

    // MARK: Notifications

    private func receiveNotifications() {
        while isOpen, let notification = PQnotifies(raw) {
            onNotification?(PostgresNotification(notification))
            PQfreemem(notification)
        }
    }
}

extension PipelineStateMachine.Received {
    /// What a result of libpq means in a pipeline; no result is the end of a command.
    init(_ result: OpaquePointer?) {
        guard let result else {
            self = .endOfCommand
            return
        }
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: self = .success
        case PGRES_FATAL_ERROR: self = .failure
        case PGRES_PIPELINE_ABORTED: self = .aborted
        case PGRES_PIPELINE_SYNC: self = .sync
        default: self = .unknown
        }
    }
}

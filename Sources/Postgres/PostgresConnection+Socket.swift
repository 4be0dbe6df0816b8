import CLibPQ
import EventLoop

extension PostgresConnection {
    /// The socket is readable, writable, or broken.
    func handle(_ events: Result<FileDescriptorPoll.Events, EventLoopError>) {
        guard isOpen else { return }
        switch events {
        case .failure(let error):
            end(PostgresError(.connectionLost, clientMessage: "\(error)"))
        case .success(let events):
            if events.contains(.writable) { flush() }
            guard isOpen, events.contains(.readable) else { return }
            let isReadable = PQconsumeInput(raw) == 1
            // Also after a failure: what came before the end may say why.
            if isUnpipelined { wakeScript() } else { receiveResults() }
            receiveNotifications()
            if !isReadable && isOpen { end(clientError(.connectionLost)) }
        }
    }

    /// Sends what libpq has buffered, and watches for room where there is none.
    func flush() {
        guard isOpen else { return }
        let status = PQflush(raw)
        guard status >= 0 else {
            // The reason may be waiting to be read; if not, the poll tells of the end.
            return receiveLastWords()
        }
        watch(writable: status == 1)
        if isUnpipelined && status == 0 { wakeScript() }
    }

    private func watch(writable: Bool) {
        // Each change is a system call: none is made while nothing changes.
        guard writable != watchesWritable, let poll else { return }
        watchesWritable = writable
        do {
            try poll.start(writable ? [.readable, .writable] : .readable)
        } catch {
            end(PostgresError(.connectionLost, clientMessage: "\(error)"))
        }
    }

    private func receiveLastWords() {
        _ = PQconsumeInput(raw)
        if isUnpipelined { wakeScript() } else { receiveResults() }
        end(clientError(.connectionLost))
    }

    /// Takes the results that have arrived, without waiting for more.
    private func receiveResults() {
        while isOpen, pipeline.count > 0, PQisBusy(raw) == 0 {
            let result = PQgetResult(raw)
            let answer = PipelineStateMachine<PendingQuery>.Answer(result)
            handle(pipeline.receive(answer), result)
        }
    }

    /// Does what the pipeline says, and takes over `result`.
    private func handle(
        _ action: PipelineStateMachine<PendingQuery>.Action, _ result: OpaquePointer?
    ) {
        if case .keepRows(let query) = action, let result {
            query.outcome = .success(PostgresRows(result: result))
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
        case .sendAgain(let query):
            query.isSkipped = true
        case .finish(let query):
            finish(query)
        case .giveUp:
            end(clientError(PQstatus(raw) == CONNECTION_OK ? .unexpectedResult : .connectionLost))
        }
    }

    private func keepError(_ query: PendingQuery, _ result: OpaquePointer?) {
        guard let result else { return }
        let report = PostgresServerReport(result: result)
        // Without a SQLSTATE, libpq itself made the result: the connection is gone.
        query.outcome = .failure(
            report.sqlState.rawValue.isEmpty
                ? PostgresError(.connectionLost, clientMessage: report.message)
                : PostgresError(report: report))
        if case .failure(let error)? = query.outcome, error.code == .connectionLost { end(error) }
    }

    /// The query is over: answers its caller, or sends it once more.
    private func finish(_ query: PendingQuery) {
        if query.isSkipped { return sendAgain(query) }
        let outcome = query.outcome ?? .failure(PostgresError(.unexpectedResult))
        query.outcome = nil
        if case .failure(let error) = outcome {
            if retries(query, after: error) { return }
            // What a failed transaction says of the second try hides the first's reason.
            let isHidden = error.sqlState == .inFailedTransaction
            query.answer(.failure(isHidden ? query.retriedError ?? error : error))
        } else {
            query.answer(outcome)
        }
        releaseHeld()
        onQueryEnd?()
    }

    /// Another query's error has kept this one from being run: now it gets a Sync to itself.
    private func sendAgain(_ query: PendingQuery) {
        query.isSkipped = false
        query.sharesSync = false
        if query.isWaitedFor { return send(query) }
        releaseHeld()
        onQueryEnd?()
    }

    private func receiveNotifications() {
        while isOpen, let notification = PQnotifies(raw) {
            onNotification?(PostgresNotification(notification))
            PQfreemem(notification)
        }
    }
}

extension PipelineStateMachine.Answer {
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

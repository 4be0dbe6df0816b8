import CLibPQ
import EventLoop

extension PostgresConnection {
    /// Makes sure that the timer fires at that time or before.
    ///
    /// Results don't stop the timer: it fires about once a time-out, and is not set for each query.
    func watchDeadline(_ deadline: Duration) {
        if let nextDeadline, nextDeadline <= deadline { return }
        nextDeadline = deadline
        deadlineTimer?.start(after: deadline - loop.now)
    }

    /// Tells the callers whose time is up, and closes the connection where a query doesn't end.
    func checkDeadlines() {
        nextDeadline = nil
        let now = loop.now
        let expired = held.filter { $0.deadline.map { $0 <= now } ?? false }
        held.removeAll { query in expired.contains { $0 === query } }
        for query in expired {
            query.complete(with: .failure(PostgresError(.queryTimedOut)))
            onQueryEnd?()
        }
        var next = giveUpTime
        var isOverrun = giveUpTime.map { $0 <= now } ?? false
        var hasExpired = false
        for query in pipeline.value.queries {
            if let deadline = query.deadline, deadline <= now {
                hasExpired = hasExpired || query.isWaitedFor
                query.complete(with: .failure(PostgresError(.queryTimedOut)))
            }
            if let giveUpTime = query.giveUpTime, giveUpTime <= now { isOverrun = true }
            let upcoming = query.isWaitedFor ? query.deadline : query.giveUpTime
            next = [next, upcoming].compactMap { $0 }.min()
        }
        // Elsewhere the session's `statement_timeout` ends the statement. A pooler doesn't know of it, and for a later
        // statement of a snapshot it is longer than what is left of the request's time.
        if hasExpired, isPooled || isInTransaction, pipeline.value.count == 1 { sendCancelRequest() }
        if isOverrun {
            if isPooled { sendLastCancelRequest() }
            end(PostgresError(.connectionLost, clientMessage: "a query overran its deadline by far"))
        } else if let next = ([next] + held.map(\.deadline)).compactMap({ $0 }).min() {
            watchDeadline(next)
        }
    }
}

// MARK: - Cancelling

extension PostgresConnection {
    /// Gives up a query whose caller's task was cancelled.
    func cancel(_ query: PendingQuery) {
        guard isOpen, query.isWaitedFor else { return }
        query.complete(with: .failure(PostgresError(.cancelled)))
        if held.contains(where: { $0 === query }) {
            held.removeAll { $0 === query }
            onQueryEnd?()
            return
        }
        let giveUpTime = loop.now + configuration.overrunGrace
        query.giveUpTime = min(query.giveUpTime ?? giveUpTime, giveUpTime)
        watchDeadline(query.giveUpTime ?? giveUpTime)
        // A cancel request ends whatever the backend runs when it arrives, which may be another's query.
        if pipeline.value.count == 1 { sendCancelRequest() }
    }

    /// Asks the server to cancel what it runs. Nothing else is sent until the request has had its effect.
    func sendCancelRequest() {
        guard isOpen, cancellation == .none, let request = CancelRequest(raw) else { return }
        cancellation = .requesting
        let giveUpTime = loop.now + configuration.overrunGrace
        self.giveUpTime = giveUpTime
        watchDeadline(giveUpTime)
        let bound = LoopBound(self, loop: loop)
        let thread = threads.cancelling
        Task(executorPreference: loop) {
            // Whether it worked shows in the query's result, or in its overrunning.
            _ = try? await thread.run { request.send() }
            bound.value.cancelRequestEnded()
        }
    }

    /// Asks the server to cancel whatever it runs for this connection, which is about to be closed: the backend doesn't
    /// notice that, and a pooler gives it to nobody else before it is done.
    private func sendLastCancelRequest() {
        guard isOpen, let request = CancelRequest(raw) else { return }
        let thread = threads.cancelling
        Task(executorPreference: loop) { _ = try? await thread.run { request.send() } }
    }

    private func cancelRequestEnded() {
        cancellation = .requested
        releaseHeld()
    }

    /// Sends what was held back, once the server has taken the cancel request and the cancelled query has ended.
    func releaseHeld() {
        guard isOpen, cancellation == .requested, pipeline.value.count == 0, !isUnpipelined else { return }
        cancellation = .none
        giveUpTime = nil
        let queries = held
        held = []
        for query in queries { send(query) }
    }
}

/// libpq's copy of what a cancel request needs.
///
/// `@unchecked Sendable`: it is independent of the connection, never changed after it is made, and made for use by
/// another thread (PostgreSQL manual, `PQcancel`). It is freed once, in `deinit`.
private final class CancelRequest: @unchecked Sendable {
    private let raw: OpaquePointer

    init?(_ connection: OpaquePointer) {
        guard let raw = PQgetCancel(connection) else { return nil }
        self.raw = raw
    }

    deinit {
        PQfreeCancel(raw)
    }

    /// Blocks until the server has taken the request.
    func send() {
        // The size is the manual's recommendation; nobody reads the message.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            _ = PQcancel(raw, buffer.baseAddress, Int32(buffer.count))
        }
    }
}

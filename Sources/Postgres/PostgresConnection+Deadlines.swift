import EventLoop

extension PostgresConnection {
    /// Makes sure that the timer fires at that time or before.
    ///
    /// Answers don't touch the timer: it fires about once a time-out, not once a query.
    func watchDeadline(_ deadline: Duration) {
        if let nextDeadline, nextDeadline <= deadline { return }
        nextDeadline = deadline
        deadlineTimer?.start(after: deadline - loop.now)
    }

    /// Answers the callers whose time is up, and closes the connection where a query doesn't end.
    func checkDeadlines() {
        nextDeadline = nil
        let now = loop.now
        let expired = held.filter { $0.deadline.map { $0 <= now } ?? false }
        held.removeAll { query in expired.contains { $0 === query } }
        for query in expired {
            query.answer(.failure(PostgresError(.queryTimedOut)))
            onQueryEnd?()
        }
        var next = giveUpTime
        var isOverrun = giveUpTime.map { $0 <= now } ?? false
        var hasExpired = false
        for query in pipeline.queries {
            if let deadline = query.deadline, deadline <= now {
                hasExpired = hasExpired || query.isWaitedFor
                query.answer(.failure(PostgresError(.queryTimedOut)))
            }
            if let giveUpTime = query.giveUpTime, giveUpTime <= now { isOverrun = true }
            let upcoming = query.isWaitedFor ? query.deadline : query.giveUpTime
            next = [next, upcoming].compactMap { $0 }.min()
        }
        // A direct session has its `statement_timeout`, of which a pooler knows nothing, and which is longer than what
        // is left of a request's time for a later statement of a snapshot.
        if hasExpired, isPooled || isInTransaction, pipeline.count == 1 { sendCancelRequest() }
        if isOverrun {
            if isPooled { sendLastCancelRequest() }
            end(PostgresError(.connectionLost, clientMessage: "a query overran its deadline by far"))
        } else if let next = ([next] + held.map(\.deadline)).compactMap({ $0 }).min() {
            watchDeadline(next)
        }
    }
}

import CLibPQ
import EventLoop

extension PostgresConnection {
    /// The caller of a query has gone.
    func cancel(_ query: PendingQuery) {
        guard isOpen, query.isWaitedFor else { return }
        query.answer(.failure(PostgresError(.cancelled)))
        if held.contains(where: { $0 === query }) {
            held.removeAll { $0 === query }
            onQueryEnd?()
            return
        }
        let giveUpTime = loop.now + configuration.overrunGrace
        query.giveUpTime = min(query.giveUpTime ?? giveUpTime, giveUpTime)
        watchDeadline(query.giveUpTime ?? giveUpTime)
        // A cancel request ends whatever the backend runs when it arrives: with others in flight, perhaps theirs.
        if pipeline.count == 1 { sendCancelRequest() }
    }

    /// Asks the server to cancel what it runs; nothing else is sent until the request is through.
    func sendCancelRequest() {
        guard isOpen, cancellation == .none, let request = CancelRequest(raw) else { return }
        cancellation = .requesting
        let giveUpTime = loop.now + configuration.overrunGrace
        self.giveUpTime = giveUpTime
        watchDeadline(giveUpTime)
        let bound = LoopBound(self, loop: loop)
        let thread = threads.cancelling
        Task(executorPreference: loop) {
            // What became of it shows in the query's answer, or in its overrunning.
            _ = try? await thread.run { request.send() }
            bound.value.cancelRequestEnded()
        }
    }

    /// Asks the server to cancel whatever it runs for this connection, which is about to be closed: a backend
    /// doesn't notice that, and a pooler would give it to nobody else until it is done.
    func sendLastCancelRequest() {
        guard isOpen, let request = CancelRequest(raw) else { return }
        let thread = threads.cancelling
        Task(executorPreference: loop) { _ = try? await thread.run { request.send() } }
    }

    private func cancelRequestEnded() {
        cancellation = .requested
        releaseHeld()
    }

    /// Sends what was held back, once the request is through and what it was for has ended.
    func releaseHeld() {
        guard isOpen, cancellation == .requested, pipeline.count == 0, !isUnpipelined else { return }
        cancellation = .none
        giveUpTime = nil
        let queries = held
        held = []
        for query in queries { send(query) }
    }
}

/// libpq's copy of what a cancel request needs.
///
/// `@unchecked Sendable`: independent of the connection and never changed after it is made; made for use by
/// another thread (PostgreSQL manual, `PQcancel`). Freed once, in `deinit`.
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
        // The manual's recommended size; the message itself is of no use.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            _ = PQcancel(raw, buffer.baseAddress, Int32(buffer.count))
        }
    }
}

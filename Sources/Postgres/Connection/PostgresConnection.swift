import CLibPQ
import EventLoop
import Locking

/// A session of PostgreSQL in pipeline mode: many queries in flight, whose results come in the queries' order.
///
/// Confined to its loop: every use from elsewhere traps. Close it with ``close()``; if the server or the
/// network ends it, the queries in flight fail with ``PostgresError/Code/connectionLost`` and every later one
/// with ``PostgresError/Code/closed``. It never reconnects: the pool does that.
package final class PostgresConnection {
    /// The loop that the connection belongs to.
    package let loop: EventLoop
    /// The server process of this session, as in `pg_stat_activity.pid`.
    package let backendProcessID: Int32
    /// The host and the port that this session was made with, as libpq names them, for logs.
    package let server: String
    /// Whether there is a pooler between here and the server, as far as can be seen or is configured.
    package internal(set) var isPooled = false

    /// Called with each notice of the server; where this is nil, notices are dropped.
    package var onNotice: ((PostgresServerReport) -> Void)? {
        get { noticeReceiver.onNotice }
        set { noticeReceiver.onNotice = newValue }
    }
    /// Called with each notification on a channel that this session listens on.
    package var onNotification: ((PostgresNotification) -> Void)?
    /// Called once, when the connection has ended, with the reason unless it was closed here.
    var onEnd: ((PostgresError?) -> Void)?
    /// Called whenever a query is over and its place in the pipeline is free.
    var onQueryEnd: (() -> Void)?

    /// How far a cancel request has come.
    enum Cancellation {
        case none
        /// The request is being sent.
        case requesting
        /// The server has taken the request; the query that it is for may still be running.
        case requested
    }

    /// libpq's connection. It is freed in a later turn than that in which the connection ends, and a use after that traps, so
    /// whoever has waited looks at `isOpen` first.
    var raw: OpaquePointer {
        guard let unfreed else { preconditionFailure("the connection is freed") }
        return unfreed
    }
    /// The same; nil once it is freed.
    private var unfreed: OpaquePointer?
    let configuration: PostgresConfiguration
    let threads: PostgresThreads
    private let noticeReceiver = NoticeReceiver()
    let parameterBuffer = Confined(ParameterBuffer())

    /// False from the moment the connection is closed or lost.
    package private(set) var isOpen = true
    var poll: FileDescriptorPoll?
    var watchesWritable = false
    var isFlushScheduled = false

    let pipeline = Confined(PipelineStateMachine<PendingQuery>())
    /// Queries that aren't sent before a cancel request has had its effect, so that it cannot hit them.
    var held: [PendingQuery] = []
    var cancellation = Cancellation.none
    /// The names under which statements are, or are just being, prepared here.
    var preparedNames: [Int: String] = [:]
    var preparedCount = 0
    var isInTransaction = false

    var deadlineTimer: LoopTimer?
    var nextDeadline: Duration?
    /// When the connection is closed if a cancel request has had no effect until then.
    var giveUpTime: Duration?

    var isUnpipelined = false
    /// Wakes the script or COPY at the next event of the socket.
    let scriptWakeUp = WakeUp()

    /// Why the connection has ended; nil while it is open or if it was closed here.
    private(set) var endError: PostgresError?
    /// The socket is closed and libpq's memory freed.
    private let freed = OneTimeEvent()

    /// Takes over a connection that has been made, and enters pipeline mode.
    init(
        handle: ConnectionHandle, configuration: PostgresConfiguration, loop: EventLoop,
        threads: PostgresThreads
    ) throws(PostgresError) {
        self.loop = loop
        self.configuration = configuration
        self.threads = threads
        let raw = handle.raw
        unfreed = raw
        backendProcessID = PQbackendPID(raw)
        let (host, port) = (String(cString: PQhost(raw)), String(cString: PQport(raw)))
        server = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        guard PQsetnonblocking(raw, 1) == 0, PQenterPipelineMode(raw) == 1 else {
            let message = String(cString: PQerrorMessage(raw))
            PQfinish(raw)
            throw PostgresError(.connectionFailed, clientMessage: message)
        }
        noticeReceiver.attach(to: raw)
        do {
            let poll = try FileDescriptorPoll(loop: loop, descriptor: PQsocket(raw)) { [weak self] events in
                self?.handle(events)
            }
            self.poll = poll
            try poll.start(.readable)
        } catch {
            let error = PostgresError(.connectionFailed, clientMessage: "\(error)")
            end(error)
            throw error
        }
        deadlineTimer = LoopTimer(loop: loop) { [weak self] in self?.checkDeadlines() }
    }

    /// Ends the session and waits until the socket is closed. Queries in flight fail with
    /// ``PostgresError/Code/closed``. May be called again.
    package func close() async {
        loop.preconditionInEventLoop()
        end(nil)
        await freed.wait()
    }

    /// Ends the connection, because of `error` or, where that is nil, because it is closed here.
    func end(_ error: PostgresError?) {
        guard isOpen else { return }
        isOpen = false
        endError = error
        deadlineTimer?.close()
        deadlineTimer = nil
        let (onEnd, unfinished) = (onEnd, pipeline.value.removeAll() + held)
        self.onEnd = nil
        onQueryEnd = nil
        held = []
        // Tells the pool first, so that it doesn't send queries again on this connection.
        onEnd?(error)
        let failure = error ?? PostgresError(.closed)
        for query in unfinished { query.complete(with: .failure(failure)) }
        scriptWakeUp.wake()
        // In a later turn, since the caller may go on with libpq's connection. The closure keeps `self` until then.
        guard let poll else { return free() }
        self.poll = nil
        poll.close { self.free() }
    }

    private func free() {
        noticeReceiver.onNotice = nil
        PQfinish(raw)
        unfreed = nil
        freed.happen()
    }

    /// An error of libpq itself, which has no SQLSTATE.
    func clientError(_ code: PostgresError.Code) -> PostgresError {
        PostgresError(code, clientMessage: String(cString: PQerrorMessage(raw)))
    }
}

/// Takes a connection's notices, which libpq would otherwise print on standard error.
///
/// libpq calls it inside of calls on the connection, so always on the connection's loop.
private final class NoticeReceiver {
    var onNotice: ((PostgresServerReport) -> Void)?

    /// Makes libpq call this receiver. The caller keeps it alive until `PQfinish`.
    func attach(to raw: OpaquePointer) {
        PQsetNoticeReceiver(
            raw,
            { context, result in
                guard let context, let result else { return }
                let receiver = Unmanaged<NoticeReceiver>.fromOpaque(context).takeUnretainedValue()
                receiver.onNotice?(PostgresServerReport(result: result))
            },
            Unmanaged.passUnretained(self).toOpaque())
    }
}

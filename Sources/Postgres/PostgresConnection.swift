import CLibPQ
import EventLoop

/// A session of PostgreSQL in pipeline mode, many queries in flight, answered in order.
///
/// Confined to its loop: every use from elsewhere traps. Close it with ``close()``; if the server or the
/// network ends it, the queries in flight fail with ``PostgresError/Code/connectionLost`` and every later one
/// with ``PostgresError/Code/closed``. It never reconnects: that is the pool's part.
public final class PostgresConnection {
    /// The loop that the connection belongs to.
    public let loop: EventLoop
    /// The server process of this session, as in `pg_stat_activity.pid`.
    public let backendProcessID: Int32
    /// The host and the port that this session was made with, as libpq names them.
    let target: (host: String, port: String)
    /// Whether a pooler was seen between here and the server, or is said to be there.
    public internal(set) var isPooled = false

    /// Called with each notice of the server; without it they are dropped.
    public var onNotice: ((PostgresServerReport) -> Void)? {
        get { noticeReceiver.onNotice }
        set { noticeReceiver.onNotice = newValue }
    }
    /// Called with each notification on a channel that this session listens on.
    public var onNotification: ((PostgresNotification) -> Void)?
    /// Called once, when the connection has ended, with the reason unless it was closed here.
    var onEnd: ((PostgresError?) -> Void)?
    /// Called whenever a query is over and its place in the pipeline free.
    var onQueryEnd: (() -> Void)?

    /// How far a cancel request is.
    enum Cancellation {
        case none
        /// The request is on its way.
        case requesting
        /// The request is through, the query that it is for may still be running.
        case requested
    }

    /// libpq's connection. Not touched any more once `isOpen` is false, but to free it.
    let raw: OpaquePointer
    let configuration: PostgresConfiguration
    let threads: PostgresThreads
    let noticeReceiver = NoticeReceiver()
    let parameterBuffer = ParameterBuffer()

    /// False from the moment the connection is closed or lost.
    public private(set) var isOpen = true
    var poll: FileDescriptorPoll?
    var watchesWritable = false
    var isFlushScheduled = false
    /// Whether queries have been sent that a Sync still has to follow.
    var isGroupOpen = false

    var pipeline = PipelineStateMachine<PendingQuery>()
    /// Queries that wait until a cancel request is through, so that it cannot hit them.
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

    /// Whether a script or a COPY has the connection to itself.
    var isUnpipelined = false
    /// Wakes the script or COPY at the next event.
    var eventWaiter: UnsafeContinuation<Void, Never>?

    /// Why the connection has ended; nil while it is open or if it was closed here.
    private(set) var endError: PostgresError?
    private var closeWaiters: [UnsafeContinuation<Void, Never>] = []
    private var isFreed = false

    /// Takes over a connection that has been made, and enters pipeline mode.
    init(
        handle: ConnectionHandle, configuration: PostgresConfiguration, loop: EventLoop,
        threads: PostgresThreads
    ) throws(PostgresError) {
        self.loop = loop
        self.configuration = configuration
        self.threads = threads
        raw = handle.raw
        backendProcessID = PQbackendPID(raw)
        target = (String(cString: PQhost(raw)), String(cString: PQport(raw)))
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
    public func close() async {
        loop.preconditionInEventLoop()
        end(nil)
        guard !isFreed else { return }
        await withUnsafeContinuation { closeWaiters.append($0) }
    }

    /// Ends the connection: for `error`, or because it is closed here.
    func end(_ error: PostgresError?) {
        guard isOpen else { return }
        isOpen = false
        endError = error
        deadlineTimer?.close()
        deadlineTimer = nil
        let (onEnd, unanswered) = (onEnd, pipeline.removeAll() + held)
        self.onEnd = nil
        onQueryEnd = nil
        held = []
        // First the pool, so that it gives no query that is sent again to this connection.
        onEnd?(error)
        let failure = error ?? PostgresError(.closed)
        for query in unanswered { query.answer(.failure(failure)) }
        eventWaiter?.resume()
        eventWaiter = nil
        // libuv must have let go of the descriptor before libpq closes it. The closure keeps `self` until then.
        guard let poll else { return free() }
        self.poll = nil
        poll.close { self.free() }
    }

    private func free() {
        noticeReceiver.onNotice = nil
        PQfinish(raw)
        isFreed = true
        let waiters = closeWaiters
        closeWaiters = []
        for waiter in waiters { waiter.resume() }
    }

    /// An error of libpq itself, which has no SQLSTATE.
    func clientError(_ code: PostgresError.Code) -> PostgresError {
        PostgresError(code, clientMessage: String(cString: PQerrorMessage(raw)))
    }
}

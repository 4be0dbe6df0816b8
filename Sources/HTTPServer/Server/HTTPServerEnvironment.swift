import EventLoop
import Locking

/// What all connections of a server share. Confined to its loop.
final class HTTPServerEnvironment {
    let loop: EventLoop
    let limits: HTTPLimits
    let deadlines: ConnectionDeadlines
    let dispatcher: any HTTPDispatcher
    let errorResponder: any HTTPErrorResponder
    let observe: ((RequestObservation) -> Void)?
    let memory: ClientMemory
    let clients: ClientIdentification
    let accounts: ClientAccounts
    let commonFields: [UInt8]
    let responseMemory = ResponseMemory()
    let turns: ConnectionTurns

    private let state: Confined<State>

    private struct State {
        var date = DateHeader()
        var requestIDs = RequestIDs()
    }

    init(
        loop: EventLoop, configuration: HTTPServerConfiguration, dispatcher: any HTTPDispatcher,
        errorResponder: any HTTPErrorResponder, observe: ((RequestObservation) -> Void)?
    ) {
        self.loop = loop
        self.turns = ConnectionTurns(loop: loop)
        self.limits = configuration.limits
        self.deadlines = ConnectionDeadlines(configuration.timeouts)
        self.dispatcher = dispatcher
        self.memory = configuration.memory
        self.clients = configuration.clients
        self.accounts = ClientAccounts(configuration.clients)
        self.errorResponder = errorResponder
        self.observe = observe
        self.commonFields = ResponseEncoder.encode(configuration.commonFields)
        state = Confined(State())
    }

    @inline(__always)
    func withEncoded<Result>(
        _ response: HTTPResponse, _ framing: ResponseEncoder.Framing,
        _ body: (RawSpan) -> Result
    ) -> Result {
        ResponseEncoder.withEncoded(
            response, framing, date: state.value.date.now(), commonFields: commonFields, responseMemory, body)
    }

    func encoded(_ response: HTTPResponse, _ framing: ResponseEncoder.Framing) -> [UInt8] {
        var bytes: [UInt8] = []
        withEncoded(response, framing) { bytes.append($0) }
        return bytes
    }

    /// - Parameters:
    ///   - start: when the head was read, in nanoseconds of the monotonic clock.
    ///   - spare: a context that was reset, of the same connection.
    func makeContext(
        for head: RequestHead, of stream: TCPStream, since start: Int64,
        using spare: consuming RequestContext?
    ) -> RequestContext {
        let id = state.value.requestIDs.id(for: head.request.headers)
        let context =
            spare ?? RequestContext(id: id, remoteAddress: stream.remoteAddress, memory: responseMemory)
        context.begin(
            head, id: id, traceParent: Self.traceParent(head.request.headers),
            start: observe == nil ? 0 : start)
        return context
    }

    /// A repeated field is ignored (W3C Trace Context, section 3.2.2.5).
    private static func traceParent(_ headers: HTTPHeaders) -> TraceParent? {
        headers.withOnlyValue(of: .traceParent) { TraceParent($0) } ?? nil
    }

    /// Makes the context of a request that can't be read, with the client's id, if that could be.
    func makeContext(id: RequestID?, remoteAddress: String?) -> RequestContext {
        RequestContext(
            id: id ?? state.value.requestIDs.nextID(), remoteAddress: remoteAddress, memory: responseMemory)
    }
}

/// The connections that have more requests and let other connections go first. Confined to its loop.
///
/// All of them share half a millisecond of each turn of the loop, in which at least one of them goes on. So a request
/// on another connection waits for a few of their requests at most.
final class ConnectionTurns {
    private let loop: EventLoop
    private var waiting: [HTTPConnection] = []
    private var isScheduled = false

    private static let nanosecondsOfTurn: Int64 = 500_000

    init(loop: EventLoop) {
        self.loop = loop
    }

    func wait(_ connection: HTTPConnection) {
        waiting.append(connection)
        schedule()
    }

    private func schedule() {
        guard !isScheduled, !waiting.isEmpty else { return }
        isScheduled = true
        loop.atEndOfTurn { [self] in
            isScheduled = false
            let (start, count) = (MonotonicClock.nanoseconds(), waiting.count)
            var goneOn = 0
            repeat {
                // The connection may wait again afterwards, behind all others.
                waiting[goneOn].process(.turnCame)
                goneOn += 1
            } while goneOn < count && MonotonicClock.nanoseconds() - start < Self.nanosecondsOfTurn
            waiting.removeFirst(goneOn)
            schedule()
        }
    }
}

/// The timeouts in milliseconds, rounded up.
struct ConnectionDeadlines {
    private let head, body, idle, write, linger, lastRequest: Int64

    init(_ timeouts: HTTPTimeouts) {
        head = Self.milliseconds(timeouts.head)
        body = Self.milliseconds(timeouts.body / HTTPConnectionStateMachine.bodyPeriods)
        idle = Self.milliseconds(timeouts.idle)
        write = Self.milliseconds(timeouts.write)
        linger = Self.milliseconds(timeouts.linger)
        lastRequest = Self.milliseconds(timeouts.lastRequest)
    }

    subscript(kind: HTTPConnectionStateMachine.Deadline) -> Int64 {
        switch kind {
        case .head: head
        case .body: body
        case .idle: idle
        case .write: write
        case .linger: linger
        case .lastRequest: lastRequest
        }
    }

    /// At most some centuries, so that adding them to the clock can't overflow.
    private static func milliseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let bounded = min(max(0, seconds), 10_000_000_000)
        let perMillisecond: Int64 = 1_000_000_000_000_000
        return bounded * 1000 + (max(0, attoseconds) + perMillisecond - 1) / perMillisecond
    }
}

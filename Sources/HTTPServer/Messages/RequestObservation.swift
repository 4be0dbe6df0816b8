import EventLoop

/// What happened to one request, for logs and metrics.
///
/// Every response of the server makes one, also the responses to requests that can't be read. It holds texts as the
/// bytes that were received; strings are made when they are asked for.
public struct RequestObservation: Sendable {
    /// Why a request was never complete.
    public enum Interruption: String, Sendable {
        /// It took too long: 408.
        case timeout
        /// The connection ended inside it.
        case disconnected
    }

    /// Where a handler looked for the data of a response.
    public enum Source: String, Sendable {
        /// In what the process has in memory.
        case memory
        /// In a database.
        case database
    }

    /// The method; nil if no request could be read.
    public internal(set) var method: HTTPMethod?
    var sentPath: RequestPath?
    /// The template of the request's route; nil if it has none.
    public internal(set) var routeTemplate: String?
    /// Whether `path` is `routeTemplate`, since the template has no parameters.
    public internal(set) var isPathOfRoute = false
    /// The response's status; nil if the client was gone before there was a response.
    public internal(set) var status: HTTPStatus?
    /// Why the request was never complete; nil if it was, or if it couldn't be read.
    public var interruption: Interruption?
    /// From the request's last byte until the system has the response.
    public internal(set) var durationNanoseconds: Int64 = 0
    /// When that was, in nanoseconds of the monotonic clock; 0 if it isn't known.
    public internal(set) var endNanoseconds: Int64 = 0
    /// Length of the request's body in bytes.
    public internal(set) var requestBodyBytes = 0
    /// Length of the response in bytes, head included.
    public internal(set) var responseBytes = 0
    /// The request's id.
    public internal(set) var id: RequestID
    /// The trace that the request is part of.
    public internal(set) var traceParent: TraceParent?
    /// Where its handler looked for data; nil if it needed none.
    public internal(set) var source: Source?
    /// What its handler waited for; nil if it responded at once.
    public internal(set) var waits: WaitTimes?
    /// The peer's numeric address.
    public let remoteAddress: String?
    /// Notes of the handler.
    public var logNotes: [(name: StaticString, value: String)] = []

    /// Makes an observation that has only an id and an address so far.
    init(id: RequestID, remoteAddress: String?) {
        self.id = id
        self.remoteAddress = remoteAddress
    }

    /// Forgets the request, apart from its id.
    mutating func forgetRequest() {
        // Checking for nil costs less than assigning nil.
        if sentPath != nil { sentPath = nil }
        if routeTemplate != nil { routeTemplate = nil }
        if !logNotes.isEmpty { logNotes = [] }
        if waits != nil { waits = nil }
        source = nil
        isPathOfRoute = false
        traceParent = nil
        requestBodyBytes = 0
    }
}

extension RequestObservation {
    /// Makes an observation from texts, for tests.
    init(
        method: HTTPMethod?, path: String?, routeTemplate: String?, status: HTTPStatus?,
        interruption: Interruption? = nil, duration: Duration, requestBodyBytes: Int, responseBytes: Int,
        requestID: String, traceParent: TraceParent?, remoteAddress: String?,
        logNotes: [(name: StaticString, value: String)] = [], source: Source? = nil, waits: WaitTimes? = nil
    ) {
        let (seconds, attoseconds) = duration.components
        self.init(id: RequestID(requestID), remoteAddress: remoteAddress)
        self.method = method
        sentPath = path.map { RequestPath(bytes: Array($0.utf8), range: 0..<$0.utf8.count) }
        self.routeTemplate = routeTemplate
        isPathOfRoute = routeTemplate != nil && path == routeTemplate
        self.status = status
        self.interruption = interruption
        durationNanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        self.requestBodyBytes = requestBodyBytes
        self.responseBytes = responseBytes
        self.traceParent = traceParent
        self.logNotes = logNotes
        self.source = source
        self.waits = waits
    }

    /// The path as it was sent, without the query; nil if no request could be read. It holds whatever the client
    /// sent, so metrics are labelled with `routeTemplate` instead.
    public var path: String? { sentPath?.text }

    /// Number of bytes of `path`; nil if there is none.
    public var pathByteCount: Int? { sentPath.map { max(1, $0.range.count) } }

    /// Copies the bytes of `path`, without making a string.
    ///
    /// - Parameter memory: has room for `pathByteCount` bytes.
    public func storePath(at memory: UnsafeMutableRawPointer) {
        guard let sentPath else { return }
        guard !sentPath.range.isEmpty else { return memory.storeBytes(of: ASCII.slash, as: UInt8.self) }
        sentPath.bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            memory.copyMemory(from: start + sentPath.range.lowerBound, byteCount: sentPath.range.count)
        }
    }

    /// From the request's last byte until the system has the response.
    public var duration: Duration { .nanoseconds(durationNanoseconds) }

    /// The request's id.
    public var requestID: String { id.description }
}

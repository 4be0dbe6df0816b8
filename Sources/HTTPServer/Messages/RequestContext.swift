import Bytes
import EventLoop
import Locking

/// One request on its way through the server: what is known of it besides what the client sent, what the server holds
/// for it, and its response.
///
/// There is one per request, shared by the connection, the router and the handler. Confined to the server's loop.
package final class RequestContext {
    /// The peer's numeric address; a proxy's, if there is one in front of the server.
    package var remoteAddress: String? { state.value.observation.remoteAddress }
    private let memory: ResponseMemory?
    let state: Confined<State>

    struct State {
        var observation: RequestObservation
        var addedFields: HTTPHeaders?
        var pathParameters: [(name: String, value: String)] = []

        var version = HTTPVersion.http11
        var head: RequestHead?
        /// 0 if nobody will ask for the observation.
        var startNanoseconds: Int64 = 0

        var admission: HTTPAdmission?
        var refusal: HTTPError?

        var waits: TaskWaits?

        // What it holds until `release()`.
        var inFlightLimit: InFlightLimit?
        /// The limit that the request counts towards once its body is complete.
        var limitOfBody: InFlightLimit?
        var bodyFollows = false
        /// Where the body's memory is held, and for whom; nil without a body.
        var bodyHolder: (memory: ClientMemory, client: IPAddress)?
        var heldBytes = 0
    }

    /// For tests and for requests whose head can't be read.
    package convenience init(
        requestID: String, traceParent: TraceParent? = nil, remoteAddress: String? = nil
    ) {
        self.init(id: RequestID(requestID), remoteAddress: remoteAddress, memory: nil)
        state.value.observation.traceParent = traceParent
    }

    init(id: RequestID, remoteAddress: String?, memory: ResponseMemory?) {
        self.memory = memory
        state = Confined(
            State(
                observation: RequestObservation(id: id, remoteAddress: remoteAddress),
                startNanoseconds: MonotonicClock.nanoseconds()))
    }

    deinit {
        release()
    }

    /// - Parameter start: when the head was read, in nanoseconds of the monotonic clock; 0 if `observe` won't be called: then it
    ///   isn't prepared, to save its cost.
    func begin(_ head: RequestHead, id: RequestID, traceParent: TraceParent?, start: Int64) {
        state.value.observation.id = id
        state.value.observation.traceParent = traceParent
        state.value.observation.method = head.request.method
        state.value.version = head.version
        state.value.startNanoseconds = start
        if start != 0 { state.value.observation.sentPath = head.request.sentPath }
    }

    /// Forgets the request, so that the context can serve the connection's next one.
    func reset() {
        release()
        // Most of it was handed over; to look costs less than to let go of nothing.
        if state.value.head != nil { state.value.head = nil }
        if state.value.admission != nil { state.value.admission = nil }
        if state.value.refusal != nil { state.value.refusal = nil }
        if state.value.waits != nil { state.value.waits = nil }
        if state.value.addedFields != nil { state.value.addedFields = nil }
        if !state.value.pathParameters.isEmpty { state.value.pathParameters = [] }
        state.value.observation.forgetRequest()
    }
}

extension RequestContext {
    package var id: RequestID { state.value.observation.id }

    package var requestID: String { id.description }

    package var traceParent: TraceParent? { state.value.observation.traceParent }

    /// For example `/locations/{id}`; nil before routing and without a route.
    package var routeTemplate: String? { state.value.observation.routeTemplate }

    /// - Parameter isPath: whether the template is the request's path.
    func setRoute(_ template: String, isPath: Bool) {
        state.value.observation.routeTemplate = template
        state.value.observation.isPathOfRoute = isPath
    }

    package var logNotes: [(name: StaticString, value: String)] {
        get { state.value.observation.logNotes }
        set { state.value.observation.logNotes = newValue }
    }

    /// Where the handler looks for data, for the log; nil if it needs none. It is the database in any case once the
    /// request's task has asked one.
    package var source: RequestObservation.Source? {
        get { state.value.observation.source }
        set { state.value.observation.source = newValue }
    }

    func makeWaits() -> TaskWaits? {
        if state.value.startNanoseconds != 0 { state.value.waits = TaskWaits() }
        return state.value.waits
    }

    /// Fields that are added to the response, whatever it is: also to errors and to refusals at the head.
    package var responseFields: HTTPHeaders {
        get { state.value.addedFields ?? HTTPHeaders() }
        set { state.value.addedFields = newValue.isEmpty ? nil : newValue }
    }

    var addedFields: HTTPHeaders? { state.value.addedFields }

    /// Percent-decoded; nil if the template has no such parameter.
    package func pathParameter(_ name: String) -> String? {
        state.value.pathParameters.first { $0.name == name }?.value
    }

    func addPathParameter(_ name: String, _ value: String) {
        state.value.pathParameters.append((name, value))
    }

    /// A buffer that a response's body is appended to, behind the room for its head: see `ResponseBody`. It reuses the
    /// memory of an earlier response, if there is some.
    package func takeResponseBuffer(expecting bodyBytes: Int) -> ByteBuffer {
        let count = ResponseBody.headroom + bodyBytes
        return ByteBuffer(
            adopting: memory?.take(atLeast: count) ?? ResponseMemory.make(atLeast: count),
            count: ResponseBody.headroom)
    }

    package func makeResponseBody(_ buffer: consuming ByteBuffer) -> ResponseBody {
        let (bytes, end) = buffer.release()
        return memory?.makeBody(adopting: bytes, end: end) ?? ResponseBody(adopting: bytes, end: end)
    }
}

extension RequestContext {
    /// Returns the maximum length of the body in bytes. Throws the refusal only if a body is still to come; `takeRequest()`
    /// throws any other.
    func admit(_ head: consuming RequestHead, by environment: HTTPServerEnvironment) throws(HTTPError) -> Int
    {
        let framing = head.framing
        if framing != .none {
            state.value.bodyFollows = true
            state.value.bodyHolder = (
                environment.memory, environment.clients.client(of: head.request, self)
            )
        }
        do throws(HTTPError) {
            let admission = try environment.dispatcher.admit(head.request, context: self)
            switch framing {
            case .none: break
            case .length(let length): try admission.admitBody(ofLength: length)
            case .chunked: try admission.admitBody(ofLength: 1)
            }
            let maximumBodyBytes = admission.maximumBodyBytes
            state.value.admission = consume admission
            state.value.head.fill(with: head)
            return maximumBodyBytes
        } catch {
            guard framing == .none else { throw error }
            state.value.refusal = error
            return 0
        }
    }

    func complete(_ body: [UInt8]) {
        if state.value.bodyFollows { countWithBody() }
        guard !body.isEmpty else { return }
        state.value.observation.requestBodyBytes = body.count
        state.value.head?.request.body = body
        if state.value.startNanoseconds != 0 {
            state.value.startNanoseconds = MonotonicClock.nanoseconds()
        }
    }

    /// The handler owns the head from then on. Call it once. Throws the refusal of a request without a body.
    func takeRequest() throws(HTTPError) -> (HTTPAdmission, RequestHead) {
        if let refusal = state.value.refusal { throw refusal }
        guard let admission = state.value.admission.take(), let head = state.value.head.take() else {
            throw .internalError
        }
        return (admission, head)
    }

    func framing(keepsAlive: Bool) -> ResponseEncoder.Framing {
        ResponseEncoder.Framing(
            isHead: state.value.observation.method == .head, keepsAlive: keepsAlive,
            version: state.value.version, id: state.value.observation.id)
    }

    /// Call it at most once, at the end. Returns when that was, in nanoseconds of the monotonic clock; nil if nobody asks.
    ///
    /// - Parameter status: nil if the client was gone before there was a response.
    @discardableResult
    func observe(
        _ status: HTTPStatus?, responseBytes: Int, interruption: RequestObservation.Interruption? = nil,
        _ environment: HTTPServerEnvironment
    ) -> Int64? {
        guard let observe = environment.observe else { return nil }
        let end = MonotonicClock.nanoseconds()
        state.value.observation.status = status
        state.value.observation.interruption = interruption
        state.value.observation.durationNanoseconds = end - state.value.startNanoseconds
        state.value.observation.endNanoseconds = end
        state.value.observation.responseBytes = responseBytes
        if let waits = state.value.waits?.times {
            state.value.observation.waits = waits
            if waits.databaseNanoseconds != nil { state.value.observation.source = .database }
        }
        withUnsafeMutablePointer(to: &state.value.observation) { place in
            // Moved out and back: an argument that stays in memory is copied, with all that it refers to.
            let observation = place.move()
            observe(observation)
            place.initialize(to: observation)
        }
        return end
    }
}

/// What the request holds until `release()`.
extension RequestContext {
    /// Holds memory for what a handler makes of the body. Throws 503 if too much is held for the client, or for all together.
    package func holdMore(_ bytes: Int) throws(HTTPError) {
        guard let holder = state.value.bodyHolder else { return }
        guard holder.memory.hold(bytes, for: holder.client) else { throw .overloaded(retryAfterSeconds: 1) }
        state.value.heldBytes += bytes
    }

    /// Throws as `holdMore`.
    func holdBody(_ bytes: Int) throws(HTTPError) {
        if bytes > state.value.heldBytes { try holdMore(bytes - state.value.heldBytes) }
    }

    /// Counts the request in `limit` until `release()`, at once or when its body has arrived.
    func count(in limit: InFlightLimit) {
        guard !state.value.bodyFollows else { return state.value.limitOfBody = limit }
        state.value.inFlightLimit?.count -= 1
        limit.count += 1
        state.value.inFlightLimit = limit
    }

    func countWithBody() {
        state.value.bodyFollows = false
        guard let limit = state.value.limitOfBody.take() else { return }
        do throws(HTTPError) {
            try limit.check()
            count(in: limit)
        } catch {
            state.value.refusal = error
        }
    }

    /// Gives back what the request holds, once its handler has returned or will never be called. A second call does
    /// nothing.
    @inline(__always)
    func release() {
        if let limit = state.value.inFlightLimit.take() { limit.count -= 1 }
        if let holder = state.value.bodyHolder.take() {
            state.value.limitOfBody = nil
            if state.value.heldBytes > 0 {
                holder.memory.release(state.value.heldBytes, for: holder.client)
                state.value.heldBytes = 0
            }
        }
    }
}

extension Optional {
    /// Sets a value where there is none yet.
    ///
    /// An assignment has to let go of what was there, and finds out that it was nothing by way of the type's metadata: 60
    /// instructions for a request or a response.
    mutating func fill(with value: consuming Wrapped) {
        let value = value
        if case .some = self { return self = value }
        withUnsafeMutablePointer(to: &self) { $0.initialize(to: value) }
    }
}

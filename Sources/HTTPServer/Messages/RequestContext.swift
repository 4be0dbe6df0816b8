import EventLoop
import Locking

/// One request on its way through the server: what is known of it besides what the client sent, what the server holds
/// for it, and its response.
///
/// There is one per request, shared by the connection, the router and the handler. Confined to the server's loop.
public final class RequestContext {
    /// The peer's numeric address; a proxy's, if there is one in front of the server.
    public var remoteAddress: String? { state.value.observation.remoteAddress }
    private let memory: ResponseMemory?
    let state: Confined<State>

    struct State {
        /// What will be reported of the request, as far as it is known.
        var observation: RequestObservation
        var addedFields: HTTPHeaders?
        var pathParameters: [(name: String, value: String)] = []

        // What was read of the request.
        var version = HTTPVersion.http11
        var head: RequestHead?
        /// 0 if nobody will ask for the observation.
        var startNanoseconds: Int64 = 0

        // What was decided at its head.
        var admission: HTTPAdmission?
        var refusal: HTTPError?

        /// What its task waits for; nil without a task.
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

    /// Makes a context without a request, for tests and for requests whose head can't be read.
    public convenience init(
        requestID: String, traceParent: TraceParent? = nil, remoteAddress: String? = nil
    ) {
        self.init(id: RequestID(requestID), remoteAddress: remoteAddress, memory: nil)
        state.value.observation.traceParent = traceParent
    }

    /// Makes a context without a request.
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

    /// Begins with a request whose head was read. The context may have been that of an earlier request, which `reset()`
    /// has ended.
    ///
    /// - Parameter start: when it was read, in nanoseconds of the monotonic clock; 0 if `observe` won't be called: then it isn't
    ///   prepared, to save its cost.
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

// MARK: - What handlers see

extension RequestContext {
    /// The id that the request is logged with; its response repeats it.
    public var id: RequestID { state.value.observation.id }

    /// The id, as a string.
    public var requestID: String { id.description }

    /// The trace that the request is part of, if the client named one (W3C Trace Context).
    public var traceParent: TraceParent? { state.value.observation.traceParent }

    /// The template of the request's route, for example `/locations/{id}`; nil before routing and without a route.
    public var routeTemplate: String? { state.value.observation.routeTemplate }

    /// - Parameter isPath: whether the template is the request's path.
    func setRoute(_ template: String, isPath: Bool) {
        state.value.observation.routeTemplate = template
        state.value.observation.isPathOfRoute = isPath
    }

    /// Notes of the handler for the log; part of the request's observation.
    public var logNotes: [(name: StaticString, value: String)] {
        get { state.value.observation.logNotes }
        set { state.value.observation.logNotes = newValue }
    }

    /// Where the handler looks for data, for the log; nil if it needs none. It is the database in any case once the
    /// request's task has asked one.
    public var source: RequestObservation.Source? {
        get { state.value.observation.source }
        set { state.value.observation.source = newValue }
    }

    /// Makes the record of what the request's task waits for, if the request is observed.
    func makeWaits() -> TaskWaits? {
        if state.value.startNanoseconds != 0 { state.value.waits = TaskWaits() }
        return state.value.waits
    }

    /// Fields that are added to the response, whatever it is: also to errors and to refusals at the head.
    public var responseFields: HTTPHeaders {
        get { state.value.addedFields ?? HTTPHeaders() }
        set { state.value.addedFields = newValue.isEmpty ? nil : newValue }
    }

    /// `responseFields`; nil if there are none.
    var addedFields: HTTPHeaders? { state.value.addedFields }

    /// The value of a parameter of the route's template, percent-decoded; nil if the template has no such parameter.
    public func pathParameter(_ name: String) -> String? {
        state.value.pathParameters.first { $0.name == name }?.value
    }

    func addPathParameter(_ name: String, _ value: String) {
        state.value.pathParameters.append((name, value))
    }

    /// Memory for a response's body, which the caller then owns: see `ResponseBody`. It reuses the memory of an earlier
    /// response, if there is some.
    ///
    /// - Parameter count: number of bytes at least, the room for the head included.
    public func takeResponseMemory(atLeast count: Int) -> UnsafeMutableRawBufferPointer {
        memory?.take(atLeast: count) ?? ResponseMemory.make(atLeast: count)
    }

    /// Makes a body of such memory: see `ResponseBody.init`.
    public func makeResponseBody(
        adopting bytes: UnsafeMutableRawBufferPointer, end: Int
    ) -> ResponseBody {
        memory?.makeBody(adopting: bytes, end: end) ?? ResponseBody(adopting: bytes, end: end)
    }
}

// MARK: - The request's way

extension RequestContext {
    /// Has the dispatcher admit or refuse the request.
    ///
    /// - Returns: maximum length of the body in bytes.
    /// - Throws: the refusal, if a body is still to come. Any other refusal is thrown by `takeRequest()`.
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

    /// Adds the body, which is complete, to the request.
    func complete(_ body: [UInt8]) {
        if state.value.bodyFollows { countWithBody() }
        guard !body.isEmpty else { return }
        state.value.observation.requestBodyBytes = body.count
        state.value.head?.request.body = body
        if state.value.startNanoseconds != 0 {
            state.value.startNanoseconds = MonotonicClock.nanoseconds()
        }
    }

    /// Hands over what was decided at the request's head, and the head with the request: the handler owns it from then
    /// on. Call it once.
    ///
    /// - Throws: the refusal of a request without a body.
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

    /// Reports what happened to the request. Call it at most once, at the end.
    ///
    /// - Parameters:
    ///   - status: the response's; nil if the client was gone before there was a response.
    ///   - interruption: why the request was never complete.
    /// - Returns: when that was, in nanoseconds of the monotonic clock; nil if nobody asks for it.
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
    /// Holds memory for what a handler makes of the body, for example by decompressing it.
    ///
    /// - Throws: 503 if too much memory is held for the client, or for all together.
    public func holdMore(_ bytes: Int) throws(HTTPError) {
        guard let holder = state.value.bodyHolder else { return }
        guard holder.memory.hold(bytes, for: holder.client) else { throw .overloaded(retryAfterSeconds: 1) }
        state.value.heldBytes += bytes
    }

    /// Holds memory for so many bytes of the body.
    ///
    /// - Throws: as `holdMore`.
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

    /// Counts a request whose body has arrived, or refuses it.
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

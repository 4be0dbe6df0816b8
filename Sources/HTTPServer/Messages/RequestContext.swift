import EventLoop

/// One request on its way through the server: what is known of it besides what the client sent, what the server holds
/// for it, and its response.
///
/// There is one per request, shared by the connection, the router and the handler. Confined to the server's loop.
public final class RequestContext {
    /// The peer's numeric address; a proxy's, if there is one in front of the server.
    public var remoteAddress: String? { state.pointee.observation.remoteAddress }
    private let memory: ResponseMemory?
    /// In memory of its own, so that accesses aren't checked at run time.
    let state: UnsafeMutablePointer<State>

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
        state.pointee.observation.traceParent = traceParent
    }

    /// Makes a context without a request.
    init(id: RequestID, remoteAddress: String?, memory: ResponseMemory?) {
        self.memory = memory
        state = .allocate(capacity: 1)
        state.initialize(
            to: State(
                observation: RequestObservation(id: id, remoteAddress: remoteAddress),
                startNanoseconds: MonotonicClock.nanoseconds()))
    }

    deinit {
        release()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Begins with a request whose head was read. The context may have been that of an earlier request, which `reset()`
    /// has ended.
    ///
    /// - Parameter isObserved: whether `observe` will be called; otherwise it isn't prepared, to save its cost.
    func begin(_ head: RequestHead, id: RequestID, traceParent: TraceParent?, isObserved: Bool) {
        state.pointee.observation.id = id
        state.pointee.observation.traceParent = traceParent
        state.pointee.observation.method = head.request.method
        state.pointee.version = head.version
        if isObserved {
            state.pointee.observation.sentPath = head.request.sentPath
            state.pointee.startNanoseconds = MonotonicClock.nanoseconds()
        } else {
            state.pointee.startNanoseconds = 0
        }
    }

    /// Forgets the request, so that the context can serve the connection's next one.
    func reset() {
        release()
        // Most of it was handed over; to look costs less than to let go of nothing.
        if state.pointee.head != nil { state.pointee.head = nil }
        if state.pointee.admission != nil { state.pointee.admission = nil }
        if state.pointee.refusal != nil { state.pointee.refusal = nil }
        if state.pointee.waits != nil { state.pointee.waits = nil }
        if state.pointee.addedFields != nil { state.pointee.addedFields = nil }
        if !state.pointee.pathParameters.isEmpty { state.pointee.pathParameters = [] }
        state.pointee.observation.forgetRequest()
    }
}

// MARK: - What handlers see

extension RequestContext {
    /// The id that the request is logged with; its response repeats it.
    public var id: RequestID { state.pointee.observation.id }

    /// The id, as a string.
    public var requestID: String { id.description }

    /// The trace that the request is part of, if the client named one (W3C Trace Context).
    public var traceParent: TraceParent? { state.pointee.observation.traceParent }

    /// The template of the request's route, for example `/locations/{id}`; nil before routing and without a route.
    public var routeTemplate: String? { state.pointee.observation.routeTemplate }

    /// - Parameter isPath: whether the template is the request's path.
    func setRoute(_ template: String, isPath: Bool) {
        state.pointee.observation.routeTemplate = template
        state.pointee.observation.isPathOfRoute = isPath
    }

    /// Notes of the handler for the log; part of the request's observation.
    public var logNotes: [(name: StaticString, value: String)] {
        get { state.pointee.observation.logNotes }
        set { state.pointee.observation.logNotes = newValue }
    }

    /// Where the handler looks for data, for the log; nil if it needs none. It is the database in any case once the
    /// request's task has asked one.
    public var source: RequestObservation.Source? {
        get { state.pointee.observation.source }
        set { state.pointee.observation.source = newValue }
    }

    /// Makes the record of what the request's task waits for, if the request is observed.
    func makeWaits() -> TaskWaits? {
        if state.pointee.startNanoseconds != 0 { state.pointee.waits = TaskWaits() }
        return state.pointee.waits
    }

    /// Fields that are added to the response, whatever it is: also to errors and to refusals at the head.
    public var responseFields: HTTPHeaders {
        get { state.pointee.addedFields ?? HTTPHeaders() }
        set { state.pointee.addedFields = newValue.isEmpty ? nil : newValue }
    }

    /// `responseFields`; nil if there are none.
    var addedFields: HTTPHeaders? { state.pointee.addedFields }

    /// The value of a parameter of the route's template, percent-decoded; nil if the template has no such parameter.
    public func pathParameter(_ name: String) -> String? {
        state.pointee.pathParameters.first { $0.name == name }?.value
    }

    func addPathParameter(_ name: String, _ value: String) {
        state.pointee.pathParameters.append((name, value))
    }

    /// Memory for a response's body, which the caller then owns: see `ResponseBody`. It reuses the memory of an earlier
    /// response, if there is some.
    ///
    /// - Parameter count: number of bytes at least, the room for the head included.
    public func takeResponseMemory(atLeast count: Int) -> UnsafeMutableRawBufferPointer {
        memory?.take(atLeast: count) ?? ResponseMemory.make(atLeast: count)
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
            state.pointee.bodyFollows = true
            state.pointee.bodyHolder = (
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
            state.pointee.admission = admission
            state.pointee.head = consume head
            return maximumBodyBytes
        } catch {
            guard framing == .none else { throw error }
            state.pointee.refusal = error
            return 0
        }
    }

    /// Adds the body, which is complete, to the request.
    func complete(_ body: [UInt8]) {
        if state.pointee.bodyFollows { countWithBody() }
        guard !body.isEmpty else { return }
        state.pointee.observation.requestBodyBytes = body.count
        state.pointee.head?.request.body = body
        if state.pointee.startNanoseconds != 0 {
            state.pointee.startNanoseconds = MonotonicClock.nanoseconds()
        }
    }

    /// Hands over what was decided at the request's head, and the head with the request: the handler owns it from then
    /// on. Call it once.
    ///
    /// - Throws: the refusal of a request without a body.
    func takeRequest() throws(HTTPError) -> (HTTPAdmission, RequestHead) {
        if let refusal = state.pointee.refusal { throw refusal }
        guard let admission = state.pointee.admission.take(), let head = state.pointee.head.take() else {
            throw .internalError
        }
        return (admission, head)
    }

    func framing(keepsAlive: Bool) -> ResponseEncoder.Framing {
        ResponseEncoder.Framing(
            isHead: state.pointee.observation.method == .head, keepsAlive: keepsAlive,
            version: state.pointee.version, id: state.pointee.observation.id)
    }

    /// Reports what happened to the request. Call it at most once, at the end.
    ///
    /// - Parameters:
    ///   - status: the response's; nil if the client was gone before there was a response.
    ///   - interruption: why the request was never complete.
    func observe(
        _ status: HTTPStatus?, responseBytes: Int, interruption: RequestObservation.Interruption? = nil,
        _ environment: HTTPServerEnvironment
    ) {
        guard let observe = environment.observe else { return }
        let end = MonotonicClock.nanoseconds()
        state.pointee.observation.status = status
        state.pointee.observation.interruption = interruption
        state.pointee.observation.durationNanoseconds = end - state.pointee.startNanoseconds
        state.pointee.observation.endNanoseconds = end
        state.pointee.observation.responseBytes = responseBytes
        if let waits = state.pointee.waits?.times {
            state.pointee.observation.waits = waits
            if waits.databaseNanoseconds != nil { state.pointee.observation.source = .database }
        }
        withUnsafeMutablePointer(to: &state.pointee.observation) { place in
            // Moved out and back: an argument that stays in memory is copied, with all that it refers to.
            let observation = place.move()
            observe(observation)
            place.initialize(to: observation)
        }
    }
}

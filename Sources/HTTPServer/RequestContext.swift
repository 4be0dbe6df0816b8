/// What is known of a request besides what the client sent, and what the router finds out.
///
/// One per request, shared by middleware and handler; belongs to the loop.
public final class RequestContext {
    /// The id under which the request is logged and which its answer echoes.
    public let requestID: String
    /// The request's place in a distributed trace, if the client named one (W3C Trace Context).
    public let traceParent: TraceParent?
    /// The peer's numeric address; a proxy's, where there is one in front.
    public let remoteAddress: String?
    /// The template of the route that answers, `/locations/{id}`; nil before the router and for no route.
    public internal(set) var routeTemplate: String?

    /// What a handler wants the request's observation to have besides, for logs.
    public var logNotes: [(name: StaticString, value: String)] = []
    /// Fields that the response gets, whatever it is: an error and a refusal at the head included.
    public var responseFields = HTTPHeaders()

    var pathParameters: [(name: String, value: String)] = []

    /// What the request holds until it is released.
    private var inFlightLimit: InFlightLimit?
    private var bodyBudget: BodyBudget?
    private var bodyBytes = 0

    /// A context; the server makes them, tests may.
    public init(requestID: String, traceParent: TraceParent? = nil, remoteAddress: String? = nil) {
        self.requestID = requestID
        self.traceParent = traceParent
        self.remoteAddress = remoteAddress
    }

    deinit {
        release()
    }

    /// Counts the request as one in work.
    func count(in limit: InFlightLimit) {
        inFlightLimit?.count -= 1
        limit.count += 1
        inFlightLimit = limit
    }

    /// Reserves the memory of the request's body.
    ///
    /// - Throws: 503 where the server has as many bytes of bodies as it may.
    func reserveBody(_ bytes: Int, in budget: BodyBudget) throws(HTTPError) {
        guard budget.reserve(bytes) else { throw .overloaded(retryAfterSeconds: 1) }
        bodyBudget = budget
        bodyBytes += bytes
    }

    /// Gives back what was reserved for the body beyond its length.
    func shrinkBodyReservation(to bytes: Int) {
        guard bytes < bodyBytes else { return }
        bodyBudget?.release(bodyBytes - bytes)
        bodyBytes = bytes
    }

    /// Reserves memory for what a handler makes of the request's body, by decompressing it for instance.
    ///
    /// - Throws: 503 where the server has as many bytes of bodies as it may.
    public func reserveBody(_ bytes: Int) throws(HTTPError) {
        if let bodyBudget { try reserveBody(bytes, in: bodyBudget) }
    }

    /// Lets go of what the request holds: its handler has returned, or never will. A second call does nothing.
    func release() {
        inFlightLimit?.count -= 1
        inFlightLimit = nil
        bodyBudget?.release(bodyBytes)
        bodyBudget = nil
        bodyBytes = 0
    }

    /// The value of a parameter of the route's template, percent-decoded; nil where the template has none
    /// of this name.
    public func pathParameter(_ name: String) -> String? {
        pathParameters.first { $0.name == name }?.value
    }
}

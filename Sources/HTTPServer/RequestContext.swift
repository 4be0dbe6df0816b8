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

    var pathParameters: [(name: String, value: String)] = []

    /// A context; the server makes them, tests may.
    public init(requestID: String, traceParent: TraceParent? = nil, remoteAddress: String? = nil) {
        self.requestID = requestID
        self.traceParent = traceParent
        self.remoteAddress = remoteAddress
    }

    /// The value of a parameter of the route's template, percent-decoded; nil where the template has none
    /// of this name.
    public func pathParameter(_ name: String) -> String? {
        pathParameters.first { $0.name == name }?.value
    }
}

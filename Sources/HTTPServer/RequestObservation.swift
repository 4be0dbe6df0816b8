/// What happened to one request, for logs and metrics; every answer of the server makes one, those to
/// requests that could not be read included.
public struct RequestObservation: Sendable {
    /// Why a request never came in whole.
    public enum Interruption: String, Sendable {
        /// Its time was over: 408.
        case timeout
        /// The connection ended inside it.
        case disconnected
    }

    /// The method; nil where no request could be read.
    public let method: HTTPMethod?
    /// The path as it was sent, without the query; nil where no request could be read. It may hold anything
    /// a client can type, so it is no label for metrics: `routeTemplate` is.
    public let path: String?
    /// The template of the route that answered; nil where there was none.
    public let routeTemplate: String?
    /// The answer's status; nil where the client was gone before there was an answer.
    public let status: HTTPStatus?
    /// Why the request never came in whole; nil where it did, and where it could not be read.
    public var interruption: Interruption?
    /// From the request's last byte to the answer's hand-over to the system.
    public let duration: Duration
    /// Length of the request's body in bytes.
    public let requestBodyBytes: Int
    /// Length of the answer in bytes, head included.
    public let responseBytes: Int
    /// The request's id.
    public let requestID: String
    /// The request's place in a distributed trace.
    public let traceParent: TraceParent?
    /// The peer's numeric address.
    public let remoteAddress: String?
    /// What the handler has noted of the request.
    public var logNotes: [(name: StaticString, value: String)] = []
}

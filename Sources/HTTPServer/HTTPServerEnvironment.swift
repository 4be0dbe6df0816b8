import EventLoop

/// What all connections of a server share; belongs to its loop.
final class HTTPServerEnvironment {
    let loop: EventLoop
    let limits: HTTPLimits
    let timeouts: HTTPTimeouts
    let dispatcher: any HTTPDispatcher
    let errorResponder: any HTTPErrorResponder
    let observe: ((RequestObservation) -> Void)?
    let bodyBudget: BodyBudget
    /// The fields of every answer, as they stand on the wire.
    let commonFields: [UInt8]
    var date = DateHeader()
    var requestIDs = RequestIDs()

    init(
        loop: EventLoop, configuration: HTTPServerConfiguration, dispatcher: any HTTPDispatcher,
        errorResponder: any HTTPErrorResponder, observe: ((RequestObservation) -> Void)?
    ) {
        self.loop = loop
        self.limits = configuration.limits
        self.timeouts = configuration.timeouts
        self.dispatcher = dispatcher
        self.bodyBudget = configuration.bodyBudget
        self.errorResponder = errorResponder
        self.observe = observe
        self.commonFields = ResponseEncoder.encode(configuration.commonFields)
    }

    /// The context of a request with these fields; of none where no request could be read.
    func makeContext(for headers: HTTPHeaders?, remoteAddress: String?) -> RequestContext {
        guard let headers else {
            return RequestContext(requestID: requestIDs.next(), remoteAddress: remoteAddress)
        }
        let traceParent = headers.withFirstValue(of: .traceParent) { TraceParent($0) } ?? nil
        return RequestContext(
            requestID: requestIDs.id(for: headers),
            // Two of them vouch for nothing (W3C Trace Context, section 3.2.2.5).
            traceParent: traceParent != nil && headers.count(of: .traceParent) > 1 ? nil : traceParent,
            remoteAddress: remoteAddress)
    }
}

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Makes the transports of a service, of the parts that an endpoint needs.
struct ServiceTransports: Sendable {
    let baseURL: URL
    let urlSession: URLSession
    var responseStore: ResponseStore?
    let retryPolicy: RetryPolicy
    let timeLimits: TimeLimits
    let clock: any Clock<Duration>
    let jitter: @Sendable () -> Double
    var headers: HeaderProvider?
    var renewals: KeyRenewals?
    let middleware: [any RequestMiddleware]
    let fullObserver: (@Sendable (SentRequest) -> Void)?

    /// Makes the transport of one request to an endpoint. `watch` makes the part that sees each attempt.
    func transport(
        to endpoint: ServiceEndpoint, watch: @Sendable (any Transport) -> any Transport
    ) -> any Transport {
        let recorder = fullObserver.map { AttemptRecorder(endpoint: endpoint, clock: clock, observer: $0) }
        var transport: any Transport = URLSessionTransport(urlSession: urlSession, recorder: recorder)
        // An event queue has pauses of its own, and a health check has to say how the service is now.
        let isSentOnce = [.events, .reports, .health].contains(endpoint)
        // What is edited has to be what the service has now.
        if let responseStore, !isSentOnce, endpoint != .editing {
            transport = RevalidatingTransport(base: transport, store: responseStore)
        }
        // The fields are added before the store is asked, because its keys contain them.
        if let headers {
            transport = AuthorizingTransport(
                base: transport, endpoint: endpoint, baseURL: baseURL, headers: headers, renewals: renewals)
        }
        for middleware in middleware.reversed() {
            transport = MiddlewareTransport(base: transport, middleware: middleware, endpoint: endpoint)
        }
        transport = watch(transport)
        guard !isSentOnce else { return transport }
        return RetryingTransport(
            base: transport, policy: retryPolicy, clock: clock, jitter: jitter, now: { Date() },
            limits: timeLimits)
    }
}

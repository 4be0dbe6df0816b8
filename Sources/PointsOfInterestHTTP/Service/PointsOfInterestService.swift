import Foundation

// An app that imports the client also sees the types of the contract.
@_exported import PointsOfInterestAPI

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The service as an app sees it: a method for each endpoint.
///
/// It keeps responses that have an entity tag, and sends a request again after a failure that may pass. It is a
/// value: copies share the session and the responses that are kept. Any task may call it; when the task is
/// cancelled, its request is cancelled.
public struct PointsOfInterestService: Sendable {
    /// Where the service is, with a path prefix if it has one. A query or a fragment is ignored.
    public let baseURL: URL
    /// The session that sends the requests.
    public let urlSession: URLSession

    /// The decimals of the coordinates that are sent; nil sends them as they are.
    let coordinateDecimals: Int?
    var responseStore: ResponseStore? { transports.responseStore }
    private var transports: ServiceTransports
    package let timeLimit: TimeLimit

    /// Makes a client of the service at a URL.
    ///
    /// - Parameters:
    ///   - baseURL: where the service is, with a path prefix if it has one.
    ///   - urlSession: sends the requests; best one without a cache, such as `URLSession.uncached`.
    ///   - responseStore: where responses are kept, to be revalidated by their entity tags; nil keeps none. The default
    ///     keeps them in memory; one in a folder still has them after the next start.
    ///   - retryPolicy: how often and when a request is sent again.
    ///   - timeLimits: how long a request may take.
    ///   - coordinateDecimals: the number of decimals of the coordinates in requests, 0 to 13: centres are rounded, boxes
    ///     become larger. 5 decimals are about a metre, 3 about a hundred metres. Nil sends coordinates as they are.
    ///   - clock: measures the pauses, the time limits and how long attempts take.
    ///   - headers: returns the header fields that the app adds to a request to an endpoint, a token for instance.
    ///   - renewKey: renews the key after the service has refused it with 401; nil leaves it at that.
    ///   - middleware: what stands between the client and the network; the first one is called first.
    ///   - observer: called after each attempt, also one that failed or was cancelled, on any thread; it should return
    ///     quickly, since the request waits for it. A request whose header fields couldn't be made has no attempt. For a
    ///     cancelled one it may be called after the method has thrown.
    ///   - jitter: returns a random number in 0…1 that each pause is multiplied by.
    public init(
        baseURL: URL, urlSession: URLSession = .uncached,
        responseStore: ResponseStore? = ResponseStore(),
        retryPolicy: RetryPolicy = RetryPolicy(), timeLimits: TimeLimits = TimeLimits(),
        coordinateDecimals: Int? = 5, clock: any Clock<Duration> = ContinuousClock(),
        headers: HeaderProvider? = nil, renewKey: KeyRenewer? = nil,
        middleware: [any RequestMiddleware] = [],
        observer: (@Sendable (RequestAttempt) -> Void)? = nil,
        jitter: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) {
        self.init(
            baseURL: baseURL, urlSession: urlSession, responseStore: responseStore,
            retryPolicy: retryPolicy,
            timeLimits: timeLimits, coordinateDecimals: coordinateDecimals, clock: clock, jitter: jitter,
            headers: headers, renewKey: renewKey, middleware: middleware,
            fullObserver: observer.map { observer in { @Sendable sent in observer(RequestAttempt(sent)) } })
    }

    /// Makes a client that reports all that it sends and gets.
    ///
    /// - Parameter fullObserver: as `observer`, but gets secrets and bodies, too.
    package init(
        baseURL: URL, urlSession: URLSession, responseStore: ResponseStore?,
        retryPolicy: RetryPolicy = RetryPolicy(), timeLimits: TimeLimits = TimeLimits(),
        coordinateDecimals: Int?, clock: any Clock<Duration> = ContinuousClock(),
        jitter: @escaping @Sendable () -> Double = { .random(in: 0...1) }, headers: HeaderProvider?,
        renewKey: KeyRenewer? = nil, middleware: [any RequestMiddleware] = [],
        fullObserver: (@Sendable (SentRequest) -> Void)?
    ) {
        self.baseURL = baseURL
        self.urlSession = urlSession
        self.coordinateDecimals = coordinateDecimals
        transports = ServiceTransports(
            baseURL: baseURL, urlSession: urlSession, responseStore: responseStore, retryPolicy: retryPolicy,
            timeLimits: timeLimits, clock: clock, jitter: jitter, headers: headers,
            renewals: renewKey.map(KeyRenewals.init), middleware: middleware, fullObserver: fullObserver)
        timeLimit = TimeLimit(limits: timeLimits, clock: clock)
    }

    /// Returns the same service with other header fields, and another way to renew the key in them.
    package func with(headers: @escaping HeaderProvider, renewKey: KeyRenewer?) -> PointsOfInterestService {
        var service = self
        service.transports.headers = headers
        service.transports.renewals = renewKey.map(KeyRenewals.init)
        return service
    }

    /// The same service, which keeps no responses.
    var keepingNothing: PointsOfInterestService {
        var service = self
        service.transports.responseStore = nil
        return service
    }

    /// Returns the transport that sends the requests to an endpoint and adds its header fields.
    ///
    /// - Parameter watch: makes a transport around another one, which sees each attempt of a request.
    package func transport(
        _ endpoint: ServiceEndpoint, watch: @escaping @Sendable (any Transport) -> any Transport = { $0 }
    ) -> any Transport {
        TransportOfEachRequest { [transports] in transports.transport(to: endpoint, watch: watch) }
    }

    /// Returns a loader for an endpoint, such as one of the app's own, that keeps responses, retries and adds
    /// header fields as this client's methods do.
    public func loader<Endpoint: APIRequest>(for endpoint: Endpoint) -> APIRequestLoader<Endpoint> {
        let name = (Endpoint.self as? any ServiceRequest.Type)?.endpoint ?? .own
        return APIRequestLoader(
            apiRequest: endpoint, urlSession: urlSession, transport: transport(name), timeLimit: timeLimit)
    }

    /// `GET /locations`: loads the first page of places, nearest first.
    ///
    /// - Throws: `RequestError`: `.problem` where the service refuses the request, other cases where there is no
    ///   response or one that can't be read.
    public func nearbyPlaces(_ request: NearbyPlacesRequest) async throws -> PlacesPage {
        try await load(.first(request.coarsened(toDecimals: coordinateDecimals)))
    }

    /// `GET /locations/{id}`: loads one place, with its distance from a centre if there is one.
    ///
    /// - Parameters:
    ///   - id: the place's id.
    ///   - center: where the distance is measured from; without it there is none.
    ///   - languages: the languages of the user, the preferred one first, at most 10: the place comes with its name in one of
    ///     these.
    /// - Throws: `RequestError`; one that `isGone` where no place has the id.
    public func place(
        id: Int, center: Coordinate?, languages: [String]
    ) async throws -> PointOfInterest {
        let center = center?.coarsened(toDecimals: coordinateDecimals)
        return try await loader(for: PlaceEndpoint(baseURL: baseURL))
            .loadAPIRequest(requestData: PlaceRequest(id: id, center: center, languages: languages))
    }

    /// `GET /locations/clusters`: loads how many places are in each cell of a map. Its box is sent as it is: whole cells are
    /// counted anyway.
    ///
    /// - Throws: `RequestError`; `.problem` with the code `.indexRequired` where the service can't count them.
    public func clusters(_ request: ClustersRequest) async throws -> PlaceClusters {
        try await loader(for: ClustersEndpoint(baseURL: baseURL)).loadAPIRequest(requestData: request)
    }

    /// `GET /categories`: loads every category with its number of places, most frequent first.
    ///
    /// - Throws: `RequestError`.
    public func categories() async throws -> [CategoryCount] {
        try await categories(languages: [])
    }

    /// `GET /categories`: loads every category with its number of places, most frequent first, or those that a text finds by their
    /// names and the words for them.
    ///
    /// - Parameters:
    ///   - languages: the languages of the user, the preferred one first, at most 10: categories come with their labels in these.
    ///   - searchText: 1 to 100 characters; nil for every category.
    /// - Throws: `RequestError`; `.problem` where the service refuses the languages or the text, as versions before 0.7.0 do.
    public func categories(
        languages: [String], searchText: String? = nil
    ) async throws -> [CategoryCount] {
        try await categories(CategoriesRequest(searchText: searchText, languages: languages))
    }

    /// Loads the categories that a request asks for.
    ///
    /// - Throws: `RequestError`; `.problem` where the service refuses the request.
    package func categories(_ request: CategoriesRequest) async throws -> [CategoryCount] {
        try await loader(for: CategoriesEndpoint(baseURL: baseURL)).loadAPIRequest(requestData: request)
    }

    /// `GET /attributions`: loads the datasets that places came from, by name. A map shows their credits.
    ///
    /// - Throws: `RequestError`.
    public func attributions() async throws -> [Attribution] {
        try await loader(for: AttributionsEndpoint(baseURL: baseURL)).loadAPIRequest(requestData: ())
    }

    /// `POST /events`: sends a batch of at most 1,000 events once. An app tracks through `TrackingModel` and an `EventQueue`.
    ///
    /// - Throws: `RequestError`; `.problem` with the code `.invalidEvents` and the faults by each event's index where the
    ///   service refused the batch, of which it then stored nothing; `.undecodableBody` where the response counts more or
    ///   fewer events than were sent.
    public func send(_ events: [TrackedEvent]) async throws -> EventsResponse {
        let response = try await loader(for: EventsEndpoint(baseURL: baseURL))
            .loadAPIRequest(requestData: EventsRequest(events: events))
        try response.checkSum(events.count)
        return response
    }

    /// `POST /reports`: sends a report of what is wrong with a place once. It is safe to send it again. An app that is to report
    /// without a network, too, has an `EventQueue` do it: `AppEnvironment.report(_:)`.
    ///
    /// - Throws: `RequestError`; `.problem` with the code `.invalidContent` and the faults by members where the service refused
    ///   the report, and with `.unknownPath` where it takes none.
    public func report(_ report: PlaceReport) async throws {
        let receipt = try await loader(for: ReportsEndpoint(baseURL: baseURL))
            .loadAPIRequest(requestData: report)
        try receipt.check(report.id)
    }

    /// `GET /readyz`: asks once whether the service takes requests.
    ///
    /// - Throws: `RequestError`; `.problem` with the code `.notReady` where the service doesn't.
    public func health() async throws -> HealthReport { try await health(.readiness) }

    /// `GET /readyz` or `GET /livez`: sends the check once.
    package func health(_ check: HealthEndpoint.Check) async throws -> HealthReport {
        try await loader(for: HealthEndpoint(baseURL: baseURL)).loadAPIRequest(requestData: check)
    }
}

extension PointsOfInterestService: PlaceFinder {
    /// `GET /locations`: loads the page that another one links to; nil after the last.
    ///
    /// - Throws: `RequestError`, as `nearbyPlaces(_:)` does; `.undecodableBody` for a link to another host.
    public func nextPage(after page: PlacesPage) async throws -> PlacesPage? {
        guard let next = page.next else { return nil }
        return try await load(.linked(next))
    }

    private func load(_ page: NearbyPlacesEndpoint.Page) async throws -> PlacesPage {
        try await loader(for: NearbyPlacesEndpoint(baseURL: baseURL)).loadAPIRequest(requestData: page)
    }
}

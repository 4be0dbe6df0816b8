import Foundation

// An app imports the client alone and has the contract's types with it.
@_exported import PointsOfInterestAPI

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The service as an app sees it: a method an endpoint.
///
/// It keeps answers by their entity tags and sends a request again where a failure may pass. A value: copies
/// share the session and the store. Calls may come from any task; a cancelled one's request is cancelled. Every
/// method throws `RequestError`.
public struct PointsOfInterestService: Sendable {
    /// Where the service is, with a path prefix if it has one; a query or a fragment is not used.
    public let baseURL: URL
    /// The session that carries requests.
    public let urlSession: URLSession

    private let transport: any Transport
    /// Sends once: a failure is what is asked about.
    let plainTransport: any Transport

    /// Makes a client of the service at a URL.
    ///
    /// - Parameters:
    ///   - baseURL: where the service is, with a path prefix if it has one.
    ///   - urlSession: best one without a cache, such as `URLSession.uncached`.
    ///   - entityTags: where answers are kept; nil keeps none.
    ///   - retryPolicy: how often and when a request is sent again.
    ///   - clock: what pauses are measured by.
    ///   - jitter: a number of 0…1, another each time, by which pauses are shortened.
    ///   - headers: the fields that the app adds to each request, a token for instance.
    public init(
        baseURL: URL, urlSession: URLSession = .uncached,
        entityTags: (any EntityTagStore)? = MemoryEntityTagStore(), retryPolicy: RetryPolicy = RetryPolicy(),
        clock: any Clock<Duration> = ContinuousClock(),
        jitter: @escaping @Sendable () -> Double = { .random(in: 0...1) },
        headers: HeaderProvider? = nil
    ) {
        self.baseURL = baseURL
        self.urlSession = urlSession
        func authorizing(_ transport: any Transport) -> any Transport {
            headers.map { AuthorizingTransport(base: transport, headers: $0) } ?? transport
        }
        let session = URLSessionTransport(urlSession: urlSession)
        plainTransport = authorizing(session)
        transport = RetryingTransport(
            // The tags' store tells answers apart by the fields that are added, so it comes behind them.
            base: authorizing(entityTags.map { RevalidatingTransport(base: session, store: $0) } ?? session),
            policy: retryPolicy, clock: clock, jitter: jitter, now: { Date() })
    }

    /// A loader for an endpoint, an app's own for instance, with everything that this client's methods have.
    public func loader<Endpoint: APIRequest>(for endpoint: Endpoint) -> APIRequestLoader<Endpoint> {
        APIRequestLoader(apiRequest: endpoint, urlSession: urlSession, transport: transport)
    }

    /// `GET /locations`: the first page of points of interest, nearest first.
    public func locations(_ request: NearbyPlacesRequest) async throws -> PlacesPage {
        try await loader(for: NearbyPlacesEndpoint(baseURL: baseURL))
            .loadAPIRequest(requestData: .first(request))
    }

    /// `GET /locations`, page after page.
    public func pages(of request: NearbyPlacesRequest) -> LocationsPages {
        LocationsPages(loader: loader(for: NearbyPlacesEndpoint(baseURL: baseURL)), request: request)
    }

    /// `GET /locations`, place after place, over all pages.
    public func allLocations(_ request: NearbyPlacesRequest) -> NearbyPlaces {
        NearbyPlaces(pages: pages(of: request))
    }

    /// `GET /locations/{id}`: one point of interest, with its distance where a centre is given.
    public func location(id: Int, center: Coordinate? = nil) async throws -> PointOfInterest {
        try await loader(for: PlaceEndpoint(baseURL: baseURL))
            .loadAPIRequest(requestData: PlaceRequest(id: id, center: center))
    }

    /// `GET /categories`: every category with its number of places, most frequent first.
    public func categories() async throws -> [CategoryCount] {
        try await loader(for: CategoriesEndpoint(baseURL: baseURL))
            .loadAPIRequest(requestData: CategoriesRequest())
    }

    /// `POST /events`: stores a batch of events, sent once. An app tracks through `TrackingModel` and a queue.
    ///
    /// - Throws: `RequestError.problem` with the code `.invalidEvents`, and each fault by its event's index, where
    ///   the batch was refused as a whole.
    public func send(_ request: EventsRequest) async throws -> EventsResponse {
        try await loader(for: EventsEndpoint(baseURL: baseURL)).loadAPIRequest(requestData: request)
    }

    /// `GET /readyz` or `GET /livez`: how the service is, asked once and never sent again.
    ///
    /// - Throws: `RequestError.problem` with the code `.notReady` where it says that it isn't.
    public func health(_ check: HealthEndpoint.Check = .readiness) async throws -> HealthReport {
        try await APIRequestLoader(
            apiRequest: HealthEndpoint(baseURL: baseURL), urlSession: urlSession, transport: plainTransport
        ).loadAPIRequest(requestData: check)
    }
}

/// Who knows the points of interest: the service, or a test's stand-in.
public protocol PlaceFinder: Sendable {
    /// Finds the places that a request asks for, nearest first.
    ///
    /// - Throws: `RequestError`; another error counts as one of transport.
    func places(_ request: NearbyPlacesRequest) async throws -> [PointOfInterest]
}

extension PointsOfInterestService: PlaceFinder {
    /// The first page of the places that a request asks for.
    public func places(_ request: NearbyPlacesRequest) async throws -> [PointOfInterest] {
        try await locations(request).places
    }
}

extension RequestError {
    /// Makes a request's error of what a `PlaceFinder` threw.
    init(_ error: any Error) {
        self = error as? RequestError ?? RequestError(transportError: error)
    }
}

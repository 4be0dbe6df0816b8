import Foundation
import PointsOfInterestClient
import PointsOfInterestTesting
import ServerProcess

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The service under test, through the app's own networking.
enum Service {
    /// Whether somebody else's service is tested, with settings that aren't ours to know.
    static var isForeign: Bool {
        if case .remote = ContractConfiguration.current.target { return true }
        return false
    }

    static var isSeeded: Bool { ContractConfiguration.current.isSeeded }

    /// The session of all requests: on the network, or on its mock.
    static let session: URLSession =
        if ContractConfiguration.current.target == .recorded {
            MockURLProtocol.session { try RecordedService.response(to: $0) }
        } else {
            URLSession.uncached
        }

    /// The servers that are started where no service runs already, each when the first test needs it.
    private static let local = Task { try await OwnServers.startLocal() }
    private static let mock = Task { try await OwnServers.startMock() }

    static func baseURL() async throws -> URL {
        switch ContractConfiguration.current.target {
        case .recorded: AppConfiguration.mock.baseURL
        case .mock: try await mock.value.baseURL
        case .local: try await local.value.baseURL
        case .remote(let url): url
        }
    }

    /// A key of an editor, where there is one. Edits aren't recorded.
    static func editorKey() async throws -> String? {
        guard !ContractConfiguration.current.isRecording else { return nil }
        return switch ContractConfiguration.current.target {
        case .recorded: nil
        case .mock: MockEditor.key
        case .local: try await local.value.editorKey
        case .remote: ContractConfiguration.current.editorKey
        }
    }

    /// The app's client of it, which keeps nothing from one test to the next unless a store is given.
    static func client(
        responseStore: ResponseStore? = nil,
        headers: @escaping HeaderProvider = { try await Service.headers(for: $0) },
        onResponse: @escaping @Sendable (ResponseHead) -> Void = { _ in }
    ) async throws -> PointsOfInterestService {
        PointsOfInterestService(
            baseURL: try await baseURL(), urlSession: session, responseStore: responseStore,
            coordinateDecimals: nil, headers: headers,
            fullObserver: { sent in
                guard case .success(let response) = sent.outcome else { return }
                ExchangeLog.note(Exchange(sent.request, response.head, response.body))
                onResponse(response.head)
            })
    }

    static func headers(for endpoint: ServiceEndpoint) async throws -> [String: String] {
        let headers = try await ContractConfiguration.current.headers(endpoint)
        // A problem contains its request's id, which is always this one in a recording.
        let isRecording = ContractConfiguration.current.isRecording
        return isRecording ? headers.merging(["X-Request-Id": "recorded"]) { $1 } : headers
    }

    static func loader<Endpoint: APIRequest>(
        for endpoint: (URL) -> Endpoint
    ) async throws -> APIRequestLoader<Endpoint> {
        try await client().loader(for: endpoint(baseURL()))
    }

    static func places(
        around center: Coordinate, radius: Double? = nil, limit: Int? = nil
    ) async throws -> [PointOfInterest] {
        try await loader {
            PointsOfInterestRequest(baseURL: $0, radiusMeters: radius, limit: limit, coordinateDecimals: nil)
        }.loadAPIRequest(requestData: center)
    }

    /// The problem that the app's client gets for a path and query just as they are.
    static func problem(of target: String) async throws -> Problem? {
        do {
            _ = try await loader { RawRequest(baseURL: $0) }.loadAPIRequest(requestData: target)
            return nil
        } catch let error as RequestError {
            guard let problem = error.problem else { throw error }
            return problem
        }
    }

    /// The response to a path and query just as they are, with all that the client doesn't show.
    ///
    /// - Parameters:
    ///   - headers: in place of the app's own of that name; one that is nil is left out. `X-Request-Id` is one of the
    ///     suite's own.
    ///   - address: another service than the one under test.
    static func response(
        to target: String, method: String = "GET", headers: [String: String?] = [:], body: Data? = nil,
        at address: URL? = nil
    ) async throws -> Exchange {
        let base = if let address { address } else { try await baseURL() }
        var request = try RawRequest(baseURL: base).makeRequest(from: target)
        request.httpMethod = method
        request.httpBody = body
        let endpoint: ServiceEndpoint = target.hasPrefix(EndpointPath.events) ? .events : .own
        for (name, value) in try await Self.headers(for: endpoint) {
            request.setValue(value, forHTTPHeaderField: name)
        }
        if headers["X-Request-Id"] == nil {
            let id = ContractConfiguration.current.isRecording ? "recorded" : "contract-\(UUID())"
            request.setValue(id, forHTTPHeaderField: "X-Request-Id")
        }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let response = try await URLSessionTransport(urlSession: session).sendOnce(request).get()
        let exchange = Exchange(request, response.head, response.body)
        ExchangeLog.note(exchange)
        return exchange
    }

    static let targets = [
        "/locations?lat=37.3293&long=-121.8893&limit=50", "/locations?bbox=-122,37,-121,38",
        "/locations/{id}", "/locations?ids={id},1", "/locations/clusters?zoom=1&bbox=-180,-90,180,90",
        "/categories", "/attributions", "/openapi.json", "/problems", "/problems/not-found", "/",
    ]

    /// The target with the id of an existing place, or with any id if there is no place.
    static func resolved(_ target: String) async throws -> String {
        guard target.contains("{id}") else { return target }
        let id = try await places(around: center(), limit: 1).first?.id ?? 1
        return target.replacing("{id}", with: "\(id)")
    }

    /// Whether the service has its places in memory; without, it finds only the nearest ones, by the problem `index-required`.
    static var hasIndex: Bool { get async throws { try await index.value } }

    private static let index = Task {
        let problem = try await Service.problem(of: "/locations/clusters?zoom=0&bbox=-180,-90,180,90")
        return problem?.code != .indexRequired
    }

    /// Whether the service offers one of `targets`.
    static func offers(_ target: String) async throws -> Bool {
        target.contains("bbox") ? try await hasIndex : true
    }

    static func description() async throws -> ContractDescription { try await ownDescription.value }

    private static let ownDescription = Task {
        ContractDescription(try JSON(try await response(to: EndpointPath.openAPI).body))
    }
}

extension Service {
    /// A centre with places around it, where the service has any: the middle of the seed, or with other data the
    /// place nearest to it.
    static func center() async throws -> Coordinate {
        let middle = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        guard !isSeeded, let nearest = try await places(around: middle, limit: 1).first else { return middle }
        return try Coordinate(latitude: nearest.latitude, longitude: nearest.longitude)
    }

    /// Whether the service has at least so many places, 100 at most.
    static func has(places: Int) async throws -> Bool {
        if isSeeded { return true }
        return try await countUpTo100.value >= places
    }

    private static let countUpTo100 = Task {
        try await Service.places(around: Coordinate(latitude: 0, longitude: 0), limit: 100).count
    }
}

/// A request for a path and query just as they are, right or wrong.
struct RawRequest: APIRequest {
    struct NoURL: Error {
        let text: String
    }

    let baseURL: URL

    func makeRequest(from target: String) throws -> URLRequest {
        let base = baseURL.absoluteString
        let text = (base.hasSuffix("/") ? String(base.dropLast()) : base) + target
        guard let url = URL(string: text, encodingInvalidCharacters: false) else { throw NoURL(text: text) }
        return URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
    }

    func parseResponse(data: Data) -> Data { data }
}

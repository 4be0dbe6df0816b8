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

    /// Whether the service's places are the seed's.
    static var isSeeded: Bool { ContractConfiguration.current.isSeeded }

    /// What carries requests: the network, or what stands in for it.
    static let session: URLSession =
        if ContractConfiguration.current.isRecording {
            URLSession(configuration: .recording)
        } else if ContractConfiguration.current.target == .recorded {
            MockURLProtocol.session { try RecordedService.response(to: $0) }
        } else {
            URLSession.uncached
        }

    /// Where it is, once it is ready.
    static func baseURL() async throws -> URL {
        switch ContractConfiguration.current.target {
        case .recorded: AppConfiguration.mock.baseURL
        case .mock: try await OwnServers.mock().baseURL
        case .local: try await OwnServers.local().baseURL
        case .remote(let url): url
        }
    }

    /// The app's client of it, which keeps nothing from one test to the next unless a store is given.
    static func client(entityTagStore: (any EntityTagStore)? = nil) async throws -> PointsOfInterestService {
        PointsOfInterestService(
            baseURL: try await baseURL(), urlSession: session, entityTagStore: entityTagStore,
            coordinateDecimals: nil,
            headers: ContractConfiguration.current.headers)
    }

    /// The app's loader of an endpoint of it.
    static func loader<Endpoint: APIRequest>(
        for endpoint: (URL) -> Endpoint
    ) async throws -> APIRequestLoader<Endpoint> {
        try await client().loader(for: endpoint(baseURL()))
    }

    /// The places that the app's own client gets.
    static func places(
        around center: Coordinate, radius: Double? = nil, limit: Int? = nil
    ) async throws -> [PointOfInterest] {
        try await loader {
            PointsOfInterestRequest(
                baseURL: $0, radiusMeters: radius, limit: limit, coordinateDecimals: nil)
        }
        .loadAPIRequest(requestData: center)
    }

    /// The problem that the app's client gets for a path and query just as they are.
    static func problem(of target: String) async throws -> Problem? {
        do {
            _ = try await loader { RawRequest(baseURL: $0) }.loadAPIRequest(requestData: target)
            return nil
        } catch RequestError.problem(let problem) {
            return problem
        }
    }

    /// The response to a path and query just as they are, with all that the client doesn't show.
    static func response(
        to target: String, method: String = "GET", headers: [String: String] = [:], body: Data? = nil
    ) async throws -> ServiceResponse {
        var request = try RawRequest(baseURL: try await baseURL()).makeRequest(from: target)
        request.httpMethod = method
        request.httpBody = body
        for (name, value) in try await ContractConfiguration.current.headers(.own).merging(
            headers, uniquingKeysWith: { $1 })
        {
            request.setValue(value, forHTTPHeaderField: name)
        }
        let (data, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw RequestError.notHTTP }
        return ServiceResponse(response: response, body: data)
    }
}

/// A response with what the client doesn't show.
struct ServiceResponse {
    let response: HTTPURLResponse
    let body: Data

    var status: Int { response.statusCode }

    func header(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }
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

import Foundation
import PointsOfInterestClient
import ServerProcess

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The service under test: what `POI_BASE_URL` names, else a `poi dev` that this process starts and shares.
enum Service {
    /// Whether somebody else's service is tested, with data that aren't ours to know.
    static let isForeign = foreignURL != nil

    /// The origin that our own service lets in.
    static let origin = "https://app.example"

    private static let foreignURL = ProcessInfo.processInfo.environment["POI_BASE_URL"].flatMap {
        URL(string: $0)
    }

    private static let local = Task {
        let folder = try TemporaryFolder()
        let server = try await ServerProcess.dev(in: folder, environment: ["POI_CORS_ORIGINS": origin])
        server.program.endAtExit(removing: folder)
        try await server.ready()
        return server
    }

    /// Where it is, once it is ready.
    static func baseURL() async throws -> URL {
        if let foreignURL { return foreignURL }
        return try await local.value.baseURL
    }

    /// The app's client of it, which keeps nothing from one test to the next.
    static func client() async throws -> PointsOfInterestService {
        PointsOfInterestService(baseURL: try await baseURL(), entityTags: nil)
    }

    /// What the service answers the app's own client.
    static func places(
        around center: Coordinate, radius: Double? = nil, limit: Int? = nil
    ) async throws -> [PointOfInterest] {
        let request = PointsOfInterestRequest(baseURL: try await baseURL(), radius: radius, limit: limit)
        return try await APIRequestLoader(apiRequest: request).loadAPIRequest(requestData: center)
    }

    /// What the service answers to a path and query just as they are.
    static func answer(
        to target: String, method: String = "GET", headers: [String: String] = [:]
    ) async throws -> Answer {
        var request = try RawRequest(baseURL: try await baseURL()).makeRequest(from: target)
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await URLSession.shared.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw RequestError.notHTTP }
        return Answer(response: response, body: data)
    }

    /// The problem that the service answers to a path and query just as they are, by the client's own way.
    static func problem(of target: String) async throws -> Problem? {
        let loader = APIRequestLoader(apiRequest: RawRequest(baseURL: try await baseURL()))
        do {
            _ = try await loader.loadAPIRequest(requestData: target)
            return nil
        } catch RequestError.problem(let problem) {
            return problem
        }
    }
}

/// An answer with what the client doesn't show.
struct Answer {
    let response: HTTPURLResponse
    let body: Data

    var status: Int { response.statusCode }

    func header(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }
}

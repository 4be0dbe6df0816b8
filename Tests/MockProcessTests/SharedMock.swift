import PointsOfInterestTesting
import ServerProcess

/// One `poi-mock` for the tests of a suite, which have a session each.
enum SharedMock {
    private static let process = Task { try await MockServerProcess() }

    /// A session of a test's own.
    static func session() async throws -> MockServerSession {
        MockServerSession(server: try await process.value.baseURL)
    }
}

extension MockServerSession {
    /// The app's own client, which sends each request once.
    var service: PointsOfInterestService {
        PointsOfInterestService(baseURL: baseURL, entityTags: nil, retryPolicy: .never)
    }

    /// Asks for a page of places in San José.
    func places() async throws -> [PointOfInterest] {
        let here = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        return try await service.locations(LocationsRequest(center: here)).places
    }
}

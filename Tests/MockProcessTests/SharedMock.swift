import Foundation
import PointsOfInterestTesting
import ServerProcess

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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
    var service: PointsOfInterestService { service(by: .uncached) }

    /// Asks for a page of places in San José.
    func places(by session: URLSession = .uncached) async throws -> [PointOfInterest] {
        let here = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        return try await service(by: session).nearbyPlaces(NearbyPlacesRequest(center: here)).places
    }

    private func service(by session: URLSession) -> PointsOfInterestService {
        PointsOfInterestService(
            baseURL: baseURL, urlSession: session, entityTagStore: nil, retryPolicy: .never)
    }
}

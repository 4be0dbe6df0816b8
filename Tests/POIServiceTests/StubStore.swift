import PointsOfInterestAPI

@testable import POIService

/// A store that does what a test tells it to.
final class StubStore: LocationStore {
    typealias Answer = (LocationsRequest) async throws(LocationStoreError) -> [PointOfInterest]

    private let answer: Answer
    /// The requests so far.
    private(set) var requests: [LocationsRequest] = []

    init(_ answer: @escaping Answer = { (_) throws(LocationStoreError) in [] }) {
        self.answer = answer
    }

    func locations(for request: LocationsRequest) async throws(LocationStoreError) -> [PointOfInterest] {
        requests.append(request)
        return try await answer(request)
    }

    func checkHealth() async -> StoreHealth { .reachable(missingMigrations: []) }

    func close() async {}
}

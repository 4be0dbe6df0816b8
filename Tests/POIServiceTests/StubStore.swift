import PointsOfInterestAPI

@testable import POIService

/// A store that does what a test tells it to.
final class StubStore: LocationStore {
    typealias Answer = (LocationsRequest) async throws(LocationStoreError) -> [PointOfInterest]

    var currentDatasetID: DatasetID?
    var vocabulary: CategoryVocabulary?
    private let answer: Answer
    /// The requests so far.
    private(set) var requests: [LocationsRequest] = []

    init(_ answer: @escaping Answer = { (_) throws(LocationStoreError) in [] }) {
        self.answer = answer
    }

    func currentVocabulary() async throws(LocationStoreError) -> CategoryVocabulary {
        vocabulary ?? CategoryVocabulary([])
    }

    func locations(for request: LocationsRequest) async throws(LocationStoreError) -> LocationsPage {
        requests.append(request)
        return LocationsPage(places: try await answer(request), datasetID: currentDatasetID)
    }

    func location(for request: LocationRequest) async throws(LocationStoreError) -> LocationsPage {
        LocationsPage(places: [PointOfInterest]())
    }

    func categories() async throws(LocationStoreError) -> CategoryCounts {
        CategoryCounts(categories: [])
    }

    func checkHealth() async -> StoreHealth { .reachable(missingMigrations: []) }

    func close() async {}
}

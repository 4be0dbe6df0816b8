import EventLoop
import HTTPServer
import PointsOfInterestAPI

@testable import POIService
@testable import Places

/// A store that does what a test tells it to, and counts what it is asked.
final class StubStore: PlaceStore {
    typealias Answer = (NearbyPlacesRequest) async throws(PlaceStoreError) -> [PointOfInterest]

    /// What the store knows without being asked.
    var currentDatasetID: DatasetID?
    var vocabulary: FilterVocabulary?
    /// What an answer given now rests on; nil where that is `currentDatasetID`.
    var answeredDatasetID: DatasetID?
    /// The vocabulary for those who ask.
    var freshVocabulary: FilterVocabulary?
    /// Where pages end.
    var end: PagePosition?
    var databaseDuration: Duration?
    var staleSeconds: Int?
    /// Whether the store has pages and clusters of `places` at once.
    var respondsAtOnce = false
    /// The places that there are by their ids.
    var places: [PointOfInterest] = []
    private let answer: Answer
    /// The requests so far.
    private(set) var requests: [NearbyPlacesRequest] = []
    private(set) var locationRequests: [PlaceRequest] = []
    private(set) var categoriesCount = 0
    private(set) var clustersCount = 0
    private(set) var attributionsCount = 0
    private(set) var vocabularyCount = 0

    init(_ answer: @escaping Answer = { (_) throws(PlaceStoreError) in [] }) {
        self.answer = answer
    }

    func currentVocabulary() -> Stored<FilterVocabulary> {
        .later { [self] () throws(PlaceStoreError) in
            vocabularyCount += 1
            return freshVocabulary ?? vocabulary ?? FilterVocabulary(categories: [])
        }
    }

    private func page(_ places: [PointOfInterest]) -> RankedPage {
        RankedPage(
            places: places, end: end, datasetID: answeredDatasetID ?? currentDatasetID,
            databaseDuration: databaseDuration)
    }

    func places(
        for request: NearbyPlacesRequest, from client: @autoclosure () -> IPAddress
    ) -> Stored<RankedPage> {
        if respondsAtOnce { return .now(page(places)) }
        return .later { [self] () throws(PlaceStoreError) in
            requests.append(request)
            return page(try await answer(request))
        }
    }

    func place(for request: PlaceRequest) -> Stored<RankedPage> {
        if respondsAtOnce { return .now(page(places.filter { $0.id == request.id })) }
        return .later { [self] () throws(PlaceStoreError) in
            locationRequests.append(request)
            return page(places.filter { $0.id == request.id })
        }
    }

    func clusters(
        for request: ClustersRequest, from client: @autoclosure () -> IPAddress
    ) -> Stored<ClusterPage> {
        let sums = places.map { place in
            var sum = ClusterSum()
            sum.add(latitude: place.latitude, longitude: place.longitude)
            return sum
        }
        let page = ClusterPage(
            sums: sums, places: places, datasetID: answeredDatasetID ?? currentDatasetID)
        if respondsAtOnce { return .now(page) }
        return .later { [self] () throws(PlaceStoreError) in
            clustersCount += 1
            return page
        }
    }

    /// The dataset that was counted before, until that is forgotten.
    var formerVersion: DatasetVersion?

    func forgetCounts() { formerVersion = nil }

    private var version: DatasetVersion? {
        formerVersion
            ?? (answeredDatasetID ?? currentDatasetID).map {
                DatasetVersion(datasetID: $0, revision: 1, incarnation: $0)
            }
    }

    func categories() -> Stored<DatasetCounts<CategoryCount>> {
        .later { [self] () throws(PlaceStoreError) in
            categoriesCount += 1
            return DatasetCounts(
                [CategoryCount(name: "park", count: 2)], version: version, databaseDuration: databaseDuration)
        }
    }

    func attributions() -> Stored<DatasetCounts<Attribution>> {
        .later { [self] () throws(PlaceStoreError) in
            attributionsCount += 1
            return DatasetCounts(
                [Attribution(dataset: "set", license: "CC0-1.0", places: 2)], version: version,
                databaseDuration: databaseDuration)
        }
    }

    func checkHealth() async -> StoreHealth { .reachable(missingMigrations: []) }

    func close() async {}
}

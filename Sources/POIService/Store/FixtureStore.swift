import PointsOfInterestAPI

/// A store in memory, filled once: measures every place, so it is the plainest truth there is.
public final class FixtureStore: LocationStore {
    private let places: [PointOfInterest]
    /// The categories that there ever were.
    public let vocabulary: CategoryVocabulary?
    /// The same for as long as the store, whose places don't change.
    public let currentDatasetID: DatasetID?

    /// Keeps `places`; their ids are expected to be unique.
    ///
    /// - Parameter vocabulary: the categories that there ever were, those of `places` among them; nil takes
    ///   just those.
    public init(_ places: [PointOfInterest], vocabulary: CategoryVocabulary? = nil) {
        self.places = places
        self.vocabulary = vocabulary ?? CategoryVocabulary(places.map(\.category))
        currentDatasetID = DatasetID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
    }

    /// The vocabulary never changes.
    public func currentVocabulary() async throws(LocationStoreError) -> CategoryVocabulary {
        vocabulary ?? CategoryVocabulary([])
    }

    /// Answers by looking at every place.
    public func locations(for request: LocationsRequest) async throws(LocationStoreError) -> LocationsPage {
        guard let ranking = Ranking(request) else { return LocationsPage(places: [PointOfInterest]()) }
        let matching = places
        let candidates = matching.map {
            Candidate(id: Int64($0.id), latitude: $0.latitude, longitude: $0.longitude)
        }
        let placed = ranking.rank(candidates).map { placed in
            matching[placed.index].at(distanceMeters: request.center == nil ? nil : placed.distanceMeters)
        }
        return LocationsPage(places: placed, datasetID: currentDatasetID)
    }

    /// Answers by looking at every place.
    public func location(for request: LocationRequest) async throws(LocationStoreError) -> LocationsPage {
        let found = places.filter { $0.id == request.id }.map { place in
            place.at(
                distanceMeters: request.center.map {
                    Geodesic.distanceMeters(
                        from: $0,
                        to: Candidate(
                            id: Int64(place.id), latitude: place.latitude, longitude: place.longitude))
                })
        }
        return LocationsPage(places: found, datasetID: currentDatasetID)
    }

    /// Counts the places.
    public func categories() async throws(LocationStoreError) -> CategoryCounts {
        var counts: [String: Int] = [:]
        for name in vocabulary?.sortedNames ?? [] { counts[name] = 0 }
        for place in places { counts[place.category, default: 0] += 1 }
        let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return CategoryCounts(
            categories: sorted.map { CategoryCount(name: $0.key, count: $0.value) },
            datasetID: currentDatasetID)
    }

    /// Memory is always there.
    public func checkHealth() async -> StoreHealth {
        .reachable(missingMigrations: [])
    }

    /// There is nothing to let go of.
    public func close() async {}
}

extension Ranking {
    /// The ranking that a request asks for; nil where it has neither a centre nor a box.
    public init?(_ request: LocationsRequest) {
        guard let center = request.orderCenter else { return nil }
        self.init(
            center: center, radiusMeters: request.radiusMeters,
            limit: request.limit ?? LocationsRequest.defaultLimit)
    }
}

extension PointOfInterest {
    /// The same place, as it is told to somebody at a distance.
    fileprivate func at(distanceMeters: Double?) -> PointOfInterest {
        PointOfInterest(
            id: id, name: name, category: category, latitude: latitude, longitude: longitude,
            featured: featured, distance: distanceMeters, address: address, website: website, source: source)
    }
}

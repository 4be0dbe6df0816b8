import PointsOfInterestAPI

/// A store in memory, filled once: measures every place, so it is the plainest truth there is.
public final class FixtureStore: LocationStore {
    private let places: [PointOfInterest]
    private let candidates: [Candidate]

    /// Keeps `places`; their ids are expected to be unique.
    public init(_ places: [PointOfInterest]) {
        self.places = places
        candidates = places.map {
            Candidate(id: Int64($0.id), latitude: $0.latitude, longitude: $0.longitude)
        }
    }

    /// Answers by measuring every place.
    public func locations(
        for request: LocationsRequest
    ) async throws(LocationStoreError) -> [PointOfInterest] {
        Ranking(request).rank(candidates).map { placed in
            places[placed.index].at(distanceMeters: placed.distanceMeters)
        }
    }

    /// Memory is always there.
    public func checkHealth() async -> StoreHealth {
        .reachable(missingMigrations: [])
    }

    /// There is nothing to let go of.
    public func close() async {}
}

extension Ranking {
    /// The ranking that a request asks for.
    public init(_ request: LocationsRequest) {
        self.init(
            center: request.center, radiusMeters: request.radiusMeters,
            limit: request.limit ?? LocationsRequest.defaultLimit)
    }
}

extension PointOfInterest {
    /// The same place, as it is told to somebody at a distance.
    fileprivate func at(distanceMeters: Double) -> PointOfInterest {
        PointOfInterest(
            id: id, name: name, category: category, latitude: latitude, longitude: longitude,
            featured: featured, distance: distanceMeters, address: address, website: website, source: source)
    }
}

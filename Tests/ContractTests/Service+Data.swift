import PointsOfInterestTesting

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

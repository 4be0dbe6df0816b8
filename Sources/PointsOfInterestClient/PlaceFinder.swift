/// Who knows the points of interest: the service, or a test's stand-in.
public protocol PlaceFinder: Sendable {
    /// Finds the places that a request asks for, nearest first.
    ///
    /// - Throws: `RequestError`; another error counts as one of transport.
    func places(_ request: NearbyPlacesRequest) async throws -> [PointOfInterest]
}

extension PointsOfInterestService: PlaceFinder {
    /// The first page of the places that a request asks for.
    public func places(_ request: NearbyPlacesRequest) async throws -> [PointOfInterest] {
        try await locations(request).places
    }
}

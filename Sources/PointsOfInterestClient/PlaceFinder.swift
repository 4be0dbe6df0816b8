/// Who knows the points of interest: the service, or a test's stand-in.
public protocol PlaceFinder: Sendable {
    /// Finds the places that a request asks for, nearest first.
    ///
    /// - Throws: `RequestError`; another error counts as one of transport.
    func places(_ request: LocationsRequest) async throws -> [PointOfInterest]
}

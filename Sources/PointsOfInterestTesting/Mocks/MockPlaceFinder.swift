/// A service that a test controls, without a network.
public final class MockPlaceFinder: PlaceFinder {
    /// Answers a request; an error fails it.
    public typealias Handler = @Sendable (LocationsRequest) async throws -> [PointOfInterest]

    private let handler: Handler
    private let asked = Locked<[LocationsRequest]>([])

    /// Makes a service that answers so.
    public init(_ handler: @escaping Handler) {
        self.handler = handler
    }

    /// Makes a service that always answers these places.
    public convenience init(_ places: [PointOfInterest]) {
        self.init { _ in places }
    }

    /// All requests so far, in order.
    public var requests: [LocationsRequest] { asked.withLock { $0 } }

    /// Answers as the handler says.
    public func places(_ request: LocationsRequest) async throws -> [PointOfInterest] {
        asked.withLock { $0.append(request) }
        return try await handler(request)
    }
}

import Locking

/// A service that a test controls, without a network.
public final class MockPlaceFinder: PlaceFinder {
    /// Answers a request; an error fails it.
    public typealias Handler = @Sendable (NearbyPlacesRequest) async throws -> [PointOfInterest]

    private let handler: Handler
    private let asked = Lock<[NearbyPlacesRequest]>([])

    /// Makes a service that answers so.
    public init(_ handler: @escaping Handler) {
        self.handler = handler
    }

    /// Makes a service that always answers these places.
    public convenience init(_ places: [PointOfInterest]) {
        self.init { _ in places }
    }

    /// All requests so far, in order.
    public var requests: [NearbyPlacesRequest] { asked.withLock { $0 } }

    /// Answers as the handler says.
    public func places(_ request: NearbyPlacesRequest) async throws -> [PointOfInterest] {
        asked.withLock { $0.append(request) }
        return try await handler(request)
    }
}

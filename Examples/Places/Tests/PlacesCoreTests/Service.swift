import Foundation
import PlacesCore
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Responses of the service, by the endpoint that is asked.
enum Service {
    /// Two pages of places, 20 and 5, with a `Link` from the one to the other; details of each place and of no other; a
    /// cluster of 24 places, and the other one. Places have distances where the request has a centre.
    static let pages: MockURLProtocol.Handler = { request in
        guard let url = request.url else { throw URLError(.badURL) }
        let query = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        func value(_ name: String) -> String? { query.first { $0.name == name }?.value }
        let places = (1...25).map { id in
            PointOfInterest.fixture(
                id: id, name: "Place \(id)", featured: true,
                distance: value("lat") == nil ? nil : Double(id) * 100)
        }
        if url.lastPathComponent == "clusters" {
            return try response(PlaceClusters(zoom: 12, clusters: clusters), to: request)
        }
        if let id = Int(url.lastPathComponent) {
            guard let place = places.first(where: { $0.id == id }) else {
                return try RecordedResponse.locationNotFound.response(to: request)
            }
            return try response(place, to: request)
        }
        if let ids = value("ids")?.split(separator: ",").compactMap({ Int($0) }) {
            return try response(places.filter { ids.contains($0.id) }, to: request)
        }
        if value("cursor") == "2" { return try response(Array(places.suffix(5)), to: request) }
        return try response(Array(places.prefix(20)), to: request, link: "<?cursor=2>; rel=\"next\"")
    }

    /// A cluster of 24 places, and a place of its own.
    static let clusters = [
        BoundingBox(west: -121.9, south: 37.3, east: -121.88, north: 37.34).map {
            PlaceCluster(count: 24, latitude: 37.33, longitude: -121.89, box: $0)
        }, PlaceCluster(.fixture(id: 25, name: "Place 25", latitude: 37.5, longitude: -121.5, distance: nil)),
    ].compactMap(\.self)

    private static func response(
        _ value: some Encodable, to request: URLRequest, link: String? = nil
    ) throws -> (HTTPURLResponse, Data) {
        var headers = ["Content-Type": "application/json", "ETag": "\"1\""]
        headers["Link"] = link
        return (try .fixture(for: request, headers: headers), try JSONEncoder().encode(value))
    }

    /// A service without a single place.
    static let empty: MockURLProtocol.Handler = { request in
        if request.url?.lastPathComponent == "clusters" {
            return try response(PlaceClusters(zoom: 12, clusters: []), to: request)
        }
        if request.url.flatMap({ Int($0.lastPathComponent) }) != nil {
            return try RecordedResponse.locationNotFound.response(to: request)
        }
        return try MockURLProtocol.response([], to: request)
    }

    /// A service that is being restarted.
    static let unavailable: MockURLProtocol.Handler = { request in
        (try .fixture(for: request, status: 503, headers: [:]), Data())
    }

    /// A mock server that runs; nil where none does.
    static let mock = ProcessInfo.processInfo.environment["POI_MOCK_URL"].flatMap { URL(string: $0) }

    /// No service at all.
    static let offline: MockURLProtocol.Handler = { _ in throw URLError(.notConnectedToInternet) }
}

/// A service that can be switched while a test uses it.
final class Switch: Sendable {
    private let current = Locked(Service.pages)

    /// Responds as this from now on.
    func set(_ handler: @escaping MockURLProtocol.Handler) {
        current.set(handler)
    }

    /// Responds as it was said last.
    var handler: MockURLProtocol.Handler {
        { [current] request in try current.value(request) }
    }
}

/// Settings of a test's own, which are removed with this object.
final class TemporaryDefaults {
    let defaults: UserDefaults
    private let suite = "places-\(UUID().uuidString)"

    init() throws {
        defaults = try #require(UserDefaults(suiteName: suite))
    }

    /// The ids of the favourites on a service.
    @MainActor
    func favoriteIDs(baseURL: URL = AppConfiguration.mock.baseURL) -> FavoriteIDs {
        FavoriteIDs(defaults: defaults, baseURL: baseURL)
    }

    deinit {
        defaults.removePersistentDomain(forName: suite)
    }
}

/// A value that any thread may read and replace.
final class Locked<Value: Sendable>: @unchecked Sendable {
    // Unchecked, because the compiler doesn't see that the lock guards the value.
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) {
        stored = value
    }

    var value: Value { lock.withLock { stored } }

    func set(_ value: Value) {
        lock.withLock { stored = value }
    }

    func update(_ body: (inout Value) -> Void) {
        lock.withLock { body(&stored) }
    }
}

/// A folder of a test's own, which is removed with this object.
final class TemporaryFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("places-\(UUID().uuidString)")

    deinit {
        try? FileManager.default.removeItem(at: url)
    }
}

/// A system that gives time in the background, and takes it back when a test says so.
@MainActor
final class MockBackgroundTime: BackgroundTime {
    private(set) var names: [String] = []
    private(set) var ended: [Int] = []
    private let expiresAtOnce: Bool

    init(expiresAtOnce: Bool = false) {
        self.expiresAtOnce = expiresAtOnce
    }

    func begin(_ name: String, onExpiry: @escaping @MainActor @Sendable () -> Void) -> Int {
        names.append(name)
        if expiresAtOnce {
            Task {
                onExpiry()
                // Before the work has noticed anything.
                #expect(ended == [1])
            }
        }
        return names.count
    }

    func end(_ id: Int) {
        ended.append(id)
    }
}

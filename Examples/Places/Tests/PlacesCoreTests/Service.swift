import Foundation
import PlacesCore
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Responses of the service, by the endpoint that is asked.
enum Service {
    /// Two pages of places, 20 and 5, with a `Link` from the one to the other; details of each place and of no other.
    static let pages: MockURLProtocol.Handler = { request in
        let places = [PointOfInterest].fixtures(25, featured: true)
        guard let url = request.url else { throw URLError(.badURL) }
        if let id = Int(url.lastPathComponent) {
            guard let place = places.first(where: { $0.id == id }) else {
                return try RecordedResponse.locationNotFound.response(to: request)
            }
            return (try .fixture(for: request), try JSONEncoder().encode(place))
        }
        if url.query?.contains("cursor=2") == true {
            return try MockURLProtocol.response(Array(places.suffix(5)), to: request)
        }
        let headers = [
            "Content-Type": "application/json", "Link": "<?cursor=2>; rel=\"next\"", "ETag": "\"1\"",
        ]
        return (
            try .fixture(for: request, headers: headers), try JSONEncoder().encode(Array(places.prefix(20)))
        )
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

import Foundation
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("An app that depends on the package by its URL", .timeLimit(.minutes(1)))
@MainActor
struct AppTests {
    @Test("An app loads 45 places page after page, through two failures, to the end")
    func pages() async throws {
        let network = PagedNetwork()
        let list = AppEnvironment.mock(handler: network.respond).makeList()
        await list.load()
        #expect(list.places.count == 20)

        network.fail(with: URLError(.networkConnectionLost))
        await list.loadMore()
        guard case .failedMore(.request(let error)) = list.phase, error.urlErrorCode != nil else {
            Issue.record("the second page: \(list.phase)")
            return
        }
        #expect(list.places.count == 20 && list.hasMore)
        await list.loadMore()
        #expect(list.phase == .loaded && list.places.count == 40)

        network.fail(with: URLError(.notConnectedToInternet))
        await list.loadMore()
        #expect(list.places.count == 40 && list.hasMore)
        await list.loadMore()
        #expect(list.phase == .loaded)
        #expect(list.places.map(\.id) == Array(1...45))
        #expect(!list.hasMore)

        await list.loadMore()
        #expect(network.requestCount == 5, "there is nothing to load after the end")
    }

    @Test("An app without a network shows the last list and when it was received")
    func staysUsableOffline() async throws {
        let network = PagedNetwork()
        let folder = FileManager.default.temporaryDirectory.appending(path: "app-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        func launch() throws -> PointsOfInterestList {
            AppEnvironment(
                configuration: .mock, urlSession: MockURLProtocol.session(network.respond),
                responseStore: try ResponseStore(directory: folder), retryPolicy: .never,
                locationFetcher: MockLocationFetcher()
            ).makeList()
        }

        let online = try launch()
        await online.load()
        #expect(online.phase == .loaded)

        let wentOffline = Date()
        network.goOffline()
        let offline = try launch()
        await offline.load()
        guard case .failed(.request(let error)) = offline.phase, error.urlErrorCode != nil else {
            Issue.record("without a network: \(offline.phase)")
            return
        }
        #expect(offline.isKept && offline.places.map(\.id) == online.places.map(\.id))
        #expect(offline.places.allSatisfy { $0.distance == nil }, "the device may be elsewhere")
        let receivedAt = try #require(offline.receivedAt)
        #expect(receivedAt <= wentOffline, "when it was received, not when it was read from the disk")
    }

    @Test("An app sends events with another key than other requests")
    func separatesKeys() async throws {
        let network = PagedNetwork()
        let folder = FileManager.default.temporaryDirectory.appending(path: "app-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let configuration = AppConfiguration(
            baseURL: AppConfiguration.mock.baseURL,
            headers: { endpoint in ["Authorization": "Bearer \(endpoint == .events ? "events" : "data")"] },
            userID: { "user" })
        let environment = AppEnvironment(
            configuration: configuration, urlSession: MockURLProtocol.session(network.respond),
            retryPolicy: .never, locationFetcher: MockLocationFetcher(),
            eventQueue: try EventQueue(directory: folder))

        environment.trackingModel.sendTrackingEvent(.launch)
        #expect(await environment.eventUploader?.flush() == nil)
        await environment.makeList().load()
        #expect(network.keys(ofPath: "/events") == ["Bearer events"])
        #expect(network.keys(ofPath: "/locations") == ["Bearer data"])
    }
}

/// A network with a service that has 45 places in pages of 20, and that fails as the test says.
final class PagedNetwork: @unchecked Sendable {
    // @unchecked: everything is used with the lock only.
    private let lock = NSLock()
    private var failure: URLError?
    private var isOffline = false
    private var requests: [URLRequest] = []

    /// The next request fails.
    func fail(with error: URLError) {
        lock.withLock { failure = error }
    }

    /// All requests fail from now on.
    func goOffline() {
        lock.withLock { isOffline = true }
    }

    var requestCount: Int { lock.withLock { requests.count } }

    /// The values of `Authorization` in the requests for a path.
    func keys(ofPath path: String) -> [String?] {
        lock.withLock { requests }.filter { $0.url?.path == path }
            .map { $0.value(forHTTPHeaderField: "Authorization") }
    }

    @Sendable
    func respond(to request: URLRequest) throws -> (HTTPURLResponse, Data) {
        let failure = lock.withLock {
            requests.append(request)
            defer { self.failure = nil }
            return isOffline ? URLError(.notConnectedToInternet) : self.failure
        }
        if let failure { throw failure }
        if request.url?.path == "/events" {
            return try MockURLProtocol.response(EventsResponse(accepted: 1, duplicates: 0), to: request)
        }
        let query = request.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.queryItems }
        let first = query?.first { $0.name == "cursor" }?.value.flatMap { Int($0) } ?? 0
        let places = [PointOfInterest].fixtures(45)
        let end = min(first + 20, places.count)
        let next = end < places.count ? ["Link": "<?cursor=\(end)>; rel=\"next\""] : [:]
        let headers = ["Content-Type": "application/json", "ETag": "\"\(first)\""].merging(next) { $1 }
        return (
            try .fixture(for: request, headers: headers), try JSONEncoder().encode(Array(places[first..<end]))
        )
    }
}

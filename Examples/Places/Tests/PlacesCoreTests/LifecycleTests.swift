import Foundation
import PlacesCore
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The app's lifecycle", .timeLimit(.minutes(1)))
@MainActor
struct LifecycleTests {
    private let defaults: TemporaryDefaults

    init() throws {
        defaults = try TemporaryDefaults()
    }

    @Test(
        "The app enters the foreground or the background once, whatever phases are in between",
        arguments: [
            ([AppLifecycle.Phase.active], [AppLifecycle.Change.enterForeground]),
            ([.background, .inactive, .active], [.enterForeground]),
            ([.active, .inactive, .active], [.enterForeground]),
            ([.active, .inactive, .background], [.enterForeground, .enterBackground]),
            (
                [.active, .background, .background, .inactive, .active],
                [.enterForeground, .enterBackground, .enterForeground]
            ),
            ([.inactive, .background], []),
        ])
    func follows(phases: [AppLifecycle.Phase], changes: [AppLifecycle.Change]) {
        var lifecycle = AppLifecycle()
        #expect(phases.compactMap { lifecycle.change(to: $0) } == changes)
    }

    @Test("The app sends its waiting events in the time that the system gives it in the background")
    func flushes() async throws {
        let folder = TemporaryFolder()
        let queue = try EventQueue(directory: folder.url)
        let time = MockBackgroundTime()
        let session = session(queue, time) { request in
            try MockURLProtocol.response(EventsResponse(accepted: 2, duplicates: 0), to: request)
        }
        await PlacesWindow(session: session).perform(.open(.map))
        #expect(queue.count == 1)
        await session.perform(.enterBackground)
        #expect(queue.count == 0)
        #expect(time.names == ["Send events"])
        #expect(time.ended == [1])
    }

    @Test("The app keeps events that can't be sent, and gives the time back")
    func keepsEvents() async throws {
        let folder = TemporaryFolder()
        let queue = try EventQueue(directory: folder.url)
        let time = MockBackgroundTime()
        let session = session(queue, time, Service.offline)
        await session.perform(.enterBackground)
        #expect(queue.count == 1)
        #expect(time.ended == [1])
    }

    @Test("The app gives the time back at once when it expires, and only once")
    func expires() async {
        let time = MockBackgroundTime(expiresAtOnce: true)
        let (stream, _) = AsyncStream.makeStream(of: Void.self)
        // Work that never ends by itself.
        await time.keepAwake("Wait") { for await _ in stream {} }
        #expect(time.ended == [1])
    }

    private func session(
        _ queue: EventQueue, _ time: MockBackgroundTime, _ handler: @escaping MockURLProtocol.Handler
    ) -> PlacesSession {
        PlacesSession(
            environment: AppEnvironment(
                configuration: .mock, urlSession: MockURLProtocol.session(handler), retryPolicy: .never,
                notificationCenter: MockNotificationCenter(), locationFetcher: MockLocationFetcher(),
                eventQueue: queue),
            favoriteIDs: defaults.favoriteIDs(), backgroundTime: time)
    }
}

@Suite("The app's navigation")
struct NavigationTests {
    @Test("The open screens are restored, as deep as they were")
    func isRestored() throws {
        var navigation = Navigation()
        navigation.tab = .search
        navigation.listPath = [1]
        navigation.mapPath = [2, 3]
        navigation.searchPath = [4, 5, 6]
        navigation.favoritesPath = [7]
        navigation.searchText = "\"café\" 🏛"
        let restored = try #require(Navigation(rawValue: navigation.rawValue))
        #expect(restored == navigation)
        #expect(restored.searchPath == [4, 5, 6])
        #expect(restored.favoritesPath == [7])
        #expect(restored.searchText == "\"café\" 🏛")
    }

    @Test(
        "The app begins as at a first launch if the stored navigation is of another version",
        arguments: ["", "{}", "x", "{\"tab\":\"a\"}"])
    func isForgotten(text: String) {
        #expect(Navigation(rawValue: text) == nil)
        #expect(Navigation().tab == .list)
    }
}

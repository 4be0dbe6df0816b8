import Foundation
import PlacesCore
import PointsOfInterestTesting
import Testing

/// Which events each action sends: all of them, in order, and no other.
@Suite("The app's tracking", .timeLimit(.minutes(1)))
@MainActor
struct TrackingTests {
    private let service = Switch()

    private nonisolated static let box = BoundingBox(west: -122, south: 37, east: -121, north: 38)

    /// An action of each kind. A new one is missing here until its row is written: the switch doesn't compile.
    private nonisolated static let actions: [UserAction] =
        AppTab.allCases.map { .open($0) } + (box.map { [.showOnMap($0)] } ?? []) + [
            .enterForeground, .enterBackground, .openPlace(id: 7), .loadList, .loadMore, .search("park"),
            .search(" "), .loadMoreResults,
        ]

    private nonisolated static func expectedEvents(of action: UserAction) -> [TrackingEvent] {
        switch action {
        case .enterForeground: [.launch]
        case .enterBackground: [.background]
        case .open(.list): [.pageView(page: .locationsList)]
        case .open(.map): [.pageView(page: .locationsMap)]
        case .open(.search): [.pageView(page: .search)]
        case .open(.settings): [.pageView(page: .settings)]
        case .openPlace(let id): [.pageView(page: .locationDetail, additional: "\(id)")]
        case .loadList, .loadMore, .showOnMap: []
        case .search(" "): []
        case .search(let text): [.search(query: text, page: 1, results: 20)]
        case .loadMoreResults: [.search(query: "museum", page: 2, results: 5)]
        }
    }

    /// A session in which the list and "museum" are loaded, with a page to go.
    private func session() async -> PlacesSession {
        let session = PlacesSession(environment: .mock(handler: service.handler))
        await session.perform(.loadList)
        await session.perform(.search("museum"))
        return session
    }

    @Test("The app sends the expected events for each action", arguments: actions)
    func sends(action: UserAction) async {
        let session = await session()
        let recorder = EventRecorder(session.environment.trackingModel)
        await session.perform(action)
        #expect(await recorder.remainingEvents() == Self.expectedEvents(of: action))
    }

    @Test("The app sends no number of results for a failed search, and sends the page when it is tried again")
    func countsResults() async {
        let session = await session()
        let recorder = EventRecorder(session.environment.trackingModel)
        service.set(Service.offline)
        await session.perform(.loadMoreResults)
        service.set(Service.pages)
        await session.perform(.loadMoreResults)
        service.set(Service.offline)
        await session.perform(.search("park"))
        service.set(Service.pages)
        await session.perform(.search("park"))
        await session.perform(.loadMoreResults)
        await session.perform(.loadMoreResults)
        #expect(
            await recorder.remainingEvents() == [
                .search(query: "museum", page: 2, results: nil),
                .search(query: "museum", page: 2, results: 5),
                .search(query: "park", page: 1, results: nil),
                .search(query: "park", page: 1, results: 20), .search(query: "park", page: 2, results: 5),
            ])
    }

    @Test("The app sends each featured place that is shown, once and with its id, until the strip is gone")
    func sendsFeaturedPlaces() async throws {
        let scheduler = MockTimerScheduler(firesAtOnce: false)
        let tracker = MockTracker()
        let session = PlacesSession(
            environment: .mock(timerScheduler: scheduler, tracker: tracker, handler: service.handler))
        let recorder = EventRecorder(session.environment.trackingModel)
        let strip = Task { await session.showFeatured() }
        try await recorder.next(.featuredShown(place: 1))
        // The manager's state changes, and the place stays.
        service.set(Service.offline)
        await session.featured.load()
        guard case .failed = session.featured.phase else {
            Issue.record("the featured places: \(session.featured.phase)")
            return
        }
        scheduler.fire()
        try await recorder.next(.featuredShown(place: 2))
        strip.cancel()
        await strip.value
        #expect(scheduler.timers.map(\.isValid) == [false])
        #expect(tracker.events.map(\.event) == [.featuredShown(place: 1), .featuredShown(place: 2)])
    }

    @Test("The app sends no event of a featured place until there is one")
    func sendsNothing() async throws {
        let (requests, continuation) = AsyncStream.makeStream(of: Void.self)
        service.set { request in
            continuation.yield()
            return try MockURLProtocol.response([], to: request)
        }
        let tracker = MockTracker()
        let session = PlacesSession(
            environment: .mock(
                timerScheduler: MockTimerScheduler(firesAtOnce: false), tracker: tracker,
                handler: service.handler))
        let recorder = EventRecorder(session.environment.trackingModel)
        let strip = Task { await session.showFeatured() }
        for await _ in requests { break }
        service.set(Service.pages)
        await session.featured.load()
        try await recorder.next(.featuredShown(place: 1))
        strip.cancel()
        await strip.value
        #expect(tracker.events.map(\.event) == [.featuredShown(place: 1)])
    }
}

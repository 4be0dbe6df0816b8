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
        AppTab.allCases.map { .open($0) } + (box.map { [.showOnMap($0, width: 375)] } ?? []) + [
            .openPlace(id: 7), .loadList, .loadMore, .search, .loadMoreResults, .loadFavorites,
            .showEdits,
        ]

    private nonisolated static func expectedEvents(of action: UserAction) -> [TrackingEvent] {
        switch action {
        case .open(.list): [.pageView(page: .locationsList)]
        case .open(.map): [.pageView(page: .locationsMap)]
        case .open(.search): [.pageView(page: .search)]
        case .open(.favorites): [.pageView(page: "favorites")]
        case .open(.settings): [.pageView(page: .settings)]
        case .openPlace(let id): [.pageView(page: .locationDetail, additional: "\(id)")]
        case .loadList, .loadMore, .showOnMap: []
        case .search: [.search(query: "museum", page: 1, results: 20)]
        case .loadMoreResults: [.search(query: "museum", page: 2, results: 5)]
        case .loadFavorites: []
        case .showEdits: [.search(query: "museum", page: 1, results: 20)]
        }
    }

    private let defaults: TemporaryDefaults

    init() throws {
        defaults = try TemporaryDefaults()
    }

    private func window(tracker: MockTracker, timerScheduler: MockTimerScheduler? = nil) -> PlacesWindow {
        PlacesWindow(
            session: PlacesSession(
                environment: .mock(
                    timerScheduler: timerScheduler ?? MockTimerScheduler(firesAtOnce: false),
                    tracker: tracker, handler: service.handler),
                favoriteIDs: defaults.favoriteIDs()))
    }

    /// Runs a test with a window that tracks its searches, and in which the list and "museum" are loaded, with a page to go.
    private func withWindow(_ body: (PlacesWindow, EventRecorder) async throws -> Void) async throws
        -> [TrackingEvent]
    {
        let tracker = MockTracker()
        let window = window(tracker: tracker)
        let recorder = EventRecorder(window.session.environment.trackingModel)
        let tracking = Task { await window.trackSearches() }
        await window.perform(.loadList)
        window.search.text = "museum"
        await window.perform(.search)
        try await recorder.next(.search(query: "museum", page: 1, results: 20))
        try await body(window, recorder)
        tracking.cancel()
        await tracking.value
        return Array(tracker.events.map(\.event).dropFirst())
    }

    @Test("The app sends the expected events for each action", arguments: actions)
    func sends(action: UserAction) async throws {
        let expected = Self.expectedEvents(of: action)
        let events = try await withWindow { window, recorder in
            await window.perform(action)
            for event in expected { try await recorder.next(event) }
        }
        #expect(events == expected)
    }

    @Test("The app sends no event of a favourite")
    func sendsNoFavorites() {
        let tracker = MockTracker()
        let session = window(tracker: tracker).session
        for change in [PlacesSession.FavoriteChange.toggle(.fixture()), .move([0], to: 1), .remove(id: 1)] {
            session.change(change)
        }
        #expect(tracker.events.isEmpty)
    }

    @Test("The app sends an event when it enters the foreground, and one when it enters the background")
    func sendsLifecycle() async {
        let tracker = MockTracker()
        let session = window(tracker: tracker).session
        for change in AppLifecycle.Change.allCases { await session.perform(change) }
        #expect(tracker.events.map(\.event) == [.launch, .background])
    }

    @Test("The app sends no number of results for a failed search, and sends the page when it is tried again")
    func countsResults() async throws {
        let expected: [TrackingEvent] = [
            .search(query: "museum", page: 2, results: nil),
            .search(query: "museum", page: 2, results: 5),
            .search(query: "park", page: 1, results: nil),
            .search(query: "park", page: 1, results: 20), .search(query: "park", page: 2, results: 5),
        ]
        let events = try await withWindow { window, recorder in
            service.set(Service.offline)
            await window.perform(.loadMoreResults)
            service.set(Service.pages)
            await window.perform(.loadMoreResults)
            service.set(Service.offline)
            window.search.text = "park"
            await window.perform(.search)
            service.set(Service.pages)
            await window.perform(.search)
            await window.perform(.loadMoreResults)
            // There are no more.
            await window.perform(.loadMoreResults)
            for event in expected { try await recorder.next(event) }
        }
        #expect(events == expected)
    }

    @Test("The app sends one event of a search that goes on by distance, since relevance isn't known")
    func sendsOneOfTwo() async throws {
        let expected = [TrackingEvent.search(query: "park", page: 1, results: 20)]
        let events = try await withWindow { window, recorder in
            service.set { request in
                guard request.url?.query?.contains("sort=relevance") == true else {
                    return try Service.pages(request)
                }
                return try MockURLProtocol.response(Problem(.indexRequired), to: request)
            }
            window.search.text = "park"
            await window.perform(.search)
            for event in expected { try await recorder.next(event) }
        }
        #expect(events == expected)
    }

    @Test("The app sends no event of a page whose row was left, and sends the page when the row is back")
    func sendsNoCancelledPage() async throws {
        let expected = [TrackingEvent.search(query: "museum", page: 2, results: 5)]
        let events = try await withWindow { window, recorder in
            let row = Task { await window.perform(.loadMoreResults) }
            row.cancel()
            await row.value
            #expect(window.search.results.count == 20)
            await window.perform(.loadMoreResults)
            for event in expected { try await recorder.next(event) }
        }
        #expect(events == expected)
    }

    @Test("The app sends each featured place that is shown, once and with its id, until the strip is gone")
    func sendsFeaturedPlaces() async throws {
        let scheduler = MockTimerScheduler(firesAtOnce: false)
        let tracker = MockTracker()
        let window = window(tracker: tracker, timerScheduler: scheduler)
        let recorder = EventRecorder(window.session.environment.trackingModel)
        let strip = Task { await window.showFeatured() }
        try await recorder.next(.featuredShown(place: 1))
        // The manager's state changes, and the place stays.
        service.set(Service.offline)
        await window.featured.load()
        guard case .failed = window.featured.phase else {
            Issue.record("the featured places: \(window.featured.phase)")
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
        let window = window(tracker: tracker)
        let recorder = EventRecorder(window.session.environment.trackingModel)
        let strip = Task { await window.showFeatured() }
        for await _ in requests { break }
        service.set(Service.pages)
        await window.featured.load()
        try await recorder.next(.featuredShown(place: 1))
        strip.cancel()
        await strip.value
        #expect(tracker.events.map(\.event) == [.featuredShown(place: 1)])
    }
}

import Foundation
import PointsOfInterestClient

/// The app on one service: the client's parts, the models of the screens, and what the screens do with them.
///
/// The client's models announce their own changes. A view observes the model that it shows.
@MainActor
public final class PlacesSession {
    /// The client's parts.
    public let environment: AppEnvironment
    /// The places nearby.
    public let list: PointsOfInterestList
    /// The places that a text finds.
    public let results: PointsOfInterestList
    /// The places in the map's region.
    public let map: PlacesMap
    /// The featured places.
    public let featured: FeaturedPlaceManager

    private let backgroundTime: (any BackgroundTime)?
    private var resultPages = 0

    /// Makes the app's parts.
    ///
    /// - Parameters:
    ///   - environment: the client's parts.
    ///   - backgroundTime: gives the time to send events in after the app went to the background; nil gives none.
    public init(environment: AppEnvironment, backgroundTime: (any BackgroundTime)? = nil) {
        self.environment = environment
        self.backgroundTime = backgroundTime
        list = environment.makeList()
        // With a notification center of its own: the permission to use the location must not load places that nobody
        // has searched for.
        results = PointsOfInterestList(
            placeFinder: environment.service, locationSource: environment.locationProvider,
            notificationCenter: NotificationCenter())
        map = environment.makeMap()
        featured = environment.makeFeaturedPlaceManager()
    }

    /// Does what an action says. Returns when it is done.
    public func perform(_ action: UserAction) async {
        switch action {
        case .enterForeground: track(.launch)
        case .enterBackground:
            track(.background)
            await sendEventsInBackground()
        case .open(let tab): track(.pageView(page: tab.page))
        case .openPlace(let id): track(.pageView(page: .locationDetail, additional: "\(id)"))
        case .loadList: await list.load()
        case .loadMore: await list.loadMore()
        case .showOnMap(let box): await map.load(box)
        case .search(let text): await search(text)
        case .loadMoreResults: await loadMoreResults()
        }
    }

    private func track(_ event: TrackingEvent) {
        environment.trackingModel.sendTrackingEvent(event)
    }
}

// MARK: - Search

extension PlacesSession {
    private func search(_ text: String) async {
        guard text.contains(where: { !$0.isWhitespace }) else { return }
        results.request.searchText = text
        resultPages = 0
        await results.load()
        trackResults(of: text, after: 0)
    }

    private func loadMoreResults() async {
        guard let text = results.request.searchText, results.hasMore, results.phase != .loadingMore else {
            return
        }
        let count = results.places.count
        await results.loadMore()
        trackResults(of: text, after: count)
    }

    /// Tracks a page of results; their number is missing where it could not be loaded.
    private func trackResults(of text: String, after count: Int) {
        guard !Task.isCancelled else { return }
        let isLoaded = results.phase == .loaded && results.request.searchText == text
        let number = isLoaded ? results.places.count - count : nil
        track(.search(query: text, page: resultPages + 1, results: number))
        if isLoaded { resultPages += 1 }
    }
}

// MARK: - Position, featured places, events

extension PlacesSession {
    /// Finds out where the device is, for the map to begin there; nil where that can't be known.
    public func here() async -> Coordinate? {
        try? await environment.locationProvider.currentLocation().coordinate
    }

    /// Shows the featured places, one after another, for as long as the task isn't cancelled: as long as their strip
    /// is on the screen. Each that is shown is tracked.
    public func showFeatured() async {
        await featured.load()
        featured.scheduleNextPlace()
        defer { featured.stop() }
        var shown: Int?
        for await state in featured.updates() where state.currentPlace?.id != shown {
            shown = state.currentPlace?.id
            if let shown { track(.featuredShown(place: shown)) }
        }
    }

    /// Sends tracking events as they arrive, until the task is cancelled.
    public func sendEvents() async {
        await environment.eventUploader?.run()
    }

    private func sendEventsInBackground() async {
        guard let uploader = environment.eventUploader, let backgroundTime else { return }
        await backgroundTime.keepAwake("Send events") { _ = await uploader.flush() }
    }
}

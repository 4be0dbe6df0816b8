import Foundation
import PointsOfInterestClient

/// A window of the app: the models of its screens, and what the screens do with them. On an iPad there can be several.
///
/// The client's models announce their own changes. A view observes the model that it shows.
@MainActor
public final class PlacesWindow {
    /// What all windows share.
    public let session: PlacesSession
    /// The places nearby.
    public let list: PointsOfInterestList
    /// The places that a text finds.
    public let search: PlaceSearch
    /// The places in the map's region.
    public let map: PlacesMap
    /// The featured places.
    public let featured: FeaturedPlaceManager

    private var environment: AppEnvironment { session.environment }

    /// Makes the models of a window.
    ///
    /// - Parameters:
    ///   - session: what all windows share.
    ///   - clock: measures the pause in typing after which a text is searched for.
    public init(session: PlacesSession, clock: any Clock<Duration> = ContinuousClock()) {
        self.session = session
        let environment = session.environment
        list = environment.makeList()
        search = environment.makeSearch(clock: clock)
        map = environment.makeMap()
        featured = environment.makeFeaturedPlaceManager()
    }

    /// Does what an action says. Returns when it is done.
    public func perform(_ action: UserAction) async {
        switch action {
        case .open(let tab): track(.pageView(page: tab.page))
        case .openPlace(let id): track(.pageView(page: .locationDetail, additional: "\(id)"))
        case .loadList: await list.load()
        case .loadMore: await list.loadMore()
        case .showOnMap(let box, let width):
            await map.load(box, zoom: MapRegion.clusterZoom(showing: box, width: width))
        case .search: await search.load()
        case .loadMoreResults: await search.loadMore()
        case .loadFavorites: await session.loadFavorites()
        case .showEdits:
            if list.phase != .idle { await list.load() }
            if search.phase != .idle { await search.load() }
            if session.favorites.phase != .idle { await session.loadFavorites() }
        }
    }

    private func track(_ event: TrackingEvent) {
        environment.trackingModel.sendTrackingEvent(event)
    }
}

extension PlacesWindow {
    /// Finds out where the device is, for the map to begin there; nil where that can't be known.
    public func here() async -> Coordinate? {
        try? await environment.locationProvider.currentLocation().coordinate
    }

    /// Makes the details of a place. What a screen has of it is shown until they are loaded.
    public func makeDetails(id: Int) -> Loadable<PointOfInterest> {
        let known = list.places + search.results.map(\.place) + map.places + session.favorites.places
        return environment.makeDetails(id: id, place: known.first { $0.id == id })
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

    /// Tracks each page of results that is loaded, or fails to, until the task is cancelled.
    public func trackSearches() async {
        var tracking = SearchTracking(search.state)
        for await state in search.updates() {
            if let event = tracking.event(of: state) { track(event) }
        }
    }
}

/// Finds the tracking event of each state that a search comes to: of a page that was loaded, or failed to.
struct SearchTracking {
    private var last: PlaceSearch.State
    private var pages = 0

    init(_ state: PlaceSearch.State) {
        last = state
    }

    /// Returns the event of the next state; nil where no page ended with it.
    mutating func event(of state: PlaceSearch.State) -> TrackingEvent? {
        defer { last = state }
        switch (last.phase, state.phase) {
        case (.loading, .loaded):
            pages = 1
            return .search(query: state.text, page: 1, results: state.results.count)
        // The search goes on by distance: the service can't order by relevance.
        case (.loading, .failed(.request(let error))) where error.problem?.code == .indexRequired:
            return nil
        case (.loading, .failed): return .search(query: state.text, page: 1, results: nil)
        // A call that was cancelled changes neither.
        case (.loadingMore, .loaded) where state.results != last.results || state.hasMore != last.hasMore:
            pages += 1
            return .search(
                query: state.text, page: pages, results: state.results.count - last.results.count)
        case (.loadingMore, .failedMore): return .search(query: state.text, page: pages + 1, results: nil)
        default: return nil
        }
    }
}

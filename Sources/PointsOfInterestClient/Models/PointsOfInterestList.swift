import Foundation
import PointsOfInterestHTTP

/// The nearby places, as a table or a view shows them, page after page.
///
/// A table follows `updates()`; a SwiftUI view observes the list. The list loads anew when the permission to use the
/// location changes.
@MainActor
public final class PointsOfInterestList: ObservableModel<PointsOfInterestList.State> {
    /// What a list shows.
    public struct State: Hashable, Sendable {
        /// What the list is doing, or how its last load ended.
        public var phase = LoadPhase.idle
        /// The places that were loaded, nearest first, each once. They stay while the list loads anew, and where that
        /// fails. They always belong to `request`.
        public var places: [PointOfInterest] = []
        /// Whether `places` are not the service's of now: those of an earlier response, because the service hasn't responded yet, or
        /// of a region on the device. Those of a response have no distances: the device may be elsewhere.
        public var isKept = false
        /// Who has found `places`; nil where there are none yet.
        public var source: PlacesPage.Source?
        /// Whether `places` are all that the service would have up to the last of them; nil where there are none yet.
        public var coverage: PlacesPage.Coverage?
        /// Whether `loadMore()` would load another page.
        public var hasMore = false
        /// When the first page of `places` was received; nil where that isn't known. It tells how old places are when
        /// there is no network.
        public var receivedAt: Date?
        /// What to load; the centre is replaced by the current location.
        public var request: NearbyPlacesRequest
    }

    /// Finds out where distances are measured from; nil where that needn't be known.
    typealias Position = @MainActor @Sendable (NearbyPlacesRequest) async throws(LocationError) -> Coordinate?

    private let placeFinder: any PlaceFinder
    private let policy: LoadPolicy
    private let position: Position
    private var observation: NotificationObservation?
    private var pager: PlacePager?
    var turns = LoadTurns()
    /// Where the distances of the places are measured from, or were.
    private var center: Coordinate?

    /// Makes a list that is idle until it is loaded.
    ///
    /// - Parameters:
    ///   - placeFinder: finds the places: the service, or a stand-in.
    ///   - locationSource: finds out where the device is.
    ///   - notificationCenter: where `CurrentLocationProvider.authChangedNotification` is posted.
    ///   - request: what to load, with filters for instance; the centre is replaced by the current location.
    ///   - policy: whether places of an earlier response are shown until the service has responded.
    public convenience init(
        placeFinder: any PlaceFinder, locationSource: any CurrentLocationSource,
        notificationCenter: NotificationCenter = .default,
        request: NearbyPlacesRequest = NearbyPlacesRequest(center: nil),
        policy: LoadPolicy = .cacheAndNetwork
    ) {
        self.init(placeFinder: placeFinder, request: request, policy: policy) {
            _ throws(LocationError) in try await locationSource.currentCoordinate()
        }
        observation = NotificationObservation(
            of: CurrentLocationProvider.authChangedNotification, in: notificationCenter
        ) { [weak self] in
            await self?.load()
        }
    }

    /// Makes a list whose places needn't be around the device.
    init(
        placeFinder: any PlaceFinder, request: NearbyPlacesRequest, policy: LoadPolicy,
        position: @escaping Position
    ) {
        self.placeFinder = placeFinder
        self.policy = policy
        self.position = position
        super.init(State(request: request))
    }
}

extension PointsOfInterestList: LoadingModel {}
extension PointsOfInterestList.State: LoadingState {}

extension PointsOfInterestList {
    /// What the list is doing, or how its last load ended.
    public var phase: LoadPhase { state.phase }
    /// The places that were loaded, nearest first, each once.
    public var places: [PointOfInterest] { state.places }
    /// Whether `places` are not the service's of now: those of an earlier response, or of a region on the device.
    public var isKept: Bool { state.isKept }
    /// Who has found `places`; nil where there are none yet.
    public var source: PlacesPage.Source? { state.source }
    /// Whether `places` are all that the service would have up to the last of them; nil where there are none yet.
    public var coverage: PlacesPage.Coverage? { state.coverage }
    /// Whether `loadMore()` would load another page.
    public var hasMore: Bool { state.hasMore }
    /// When the first page of `places` was received; nil where that isn't known.
    public var receivedAt: Date? { state.receivedAt }
    /// What to load. The centre is replaced by the current location. A change takes the places away, since they belong to
    /// another request: call `load()`.
    public var request: NearbyPlacesRequest {
        get { state.request }
        set { change(to: newValue) { _ in false } }
    }

    /// Changes what to load, and keeps the places of which it is known that the new request finds them, too.
    func change(to request: NearbyPlacesRequest, keeping isFound: (PointOfInterest) -> Bool) {
        guard request != state.request else { return }
        turns.reset()
        pager = nil
        var state = state
        state.request = request
        state.places = state.places.filter(isFound)
        state.hasMore = false
        state.isKept = !state.places.isEmpty
        if state.places.isEmpty { (state.receivedAt, state.source, state.coverage) = (nil, nil, nil) }
        state.phase = turns.phase
        self.state = state
    }
}

extension PointsOfInterestList {
    /// Loads the first page of places around the current location: the first load, or pull to refresh. When it
    /// returns, `phase` is `.loaded` or `.failed`.
    ///
    /// Where there are no places yet, those of the last response to this request that is kept are shown at once, without their
    /// distances. Places that were asked for more than 50 km from where the device is are taken away. When several loads run at
    /// the same time, the list shows the result of the last one that isn't cancelled. A cancelled load restores the phase from
    /// before.
    public func load() async {
        let turn = turns.begin()
        state.phase = turns.phase
        do {
            var request = request
            request.center = nil
            let anywhere = request
            async let here = position(anywhere)
            await showKept(anywhere, turn)
            request.center = try await here
            let isElsewhere = turns.isCurrent(turn) && isFar(from: request.center)
            if isElsewhere {
                turns.forget()
                pager = nil
                state.clear()
            }
            let pager = placeFinder.pager(for: request)
            let page = try await loaded { [request] list in
                if isElsewhere || list.placeFinder.hasRegions { await list.showKept(request, turn) }
            } _: {
                try await pager.loadNext()
            }
            guard turns.isCurrent(turn) else { return end(turn, nil) }
            self.pager = pager
            center = request.center
            end(turn, .loaded) { $0.show(page) }
        } catch {
            end(turn, LoadError(error).map(LoadPhase.failed))
        }
    }

    /// Whether the places that are shown were asked for far from here.
    private func isFar(from here: Coordinate?) -> Bool {
        guard let here, let center, !places.isEmpty else { return false }
        return !center.isNear(here)
    }

    /// Shows what is kept of a request where nothing is shown.
    private func showKept(_ request: NearbyPlacesRequest, _ turn: Int) async {
        guard policy == .cacheAndNetwork, places.isEmpty, !isFresh,
            let page = await placeFinder.keptPage(of: request),
            turns.isCurrent(turn), places.isEmpty
        else { return }
        pager = nil
        center = page.center
        state.showKept(page)
    }

    /// Whether the service has said that there are no places.
    private var isFresh: Bool { pager != nil && places.isEmpty && !state.isKept }

    /// Loads the next page and appends its places. When it returns, `phase` is `.loaded` or `.failedMore`.
    ///
    /// After a failure it tries the same page again. It does nothing while a page is being loaded, and at the end. A
    /// cancelled call restores the phase from before. A place that is shown already isn't shown again; if a page has no
    /// other places, the next page is loaded, too.
    public func loadMore() async {
        guard let pager, hasMore, phase != .loading, phase != .loadingMore else { return }
        let turn = turns.begin(.loadingMore)
        state.phase = turns.phase
        do {
            var page = try await pager.loadNext()
            while let repeated = page, repeated.next != nil, pager === self.pager,
                !state.lacks(repeated.places)
            {
                page = try await pager.loadNext()
            }
            // If the list was loaded anew meanwhile, the page belongs to places that are no longer shown. If that load
            // failed, the page still belongs to the places that are shown.
            guard pager === self.pager else { return end(turn, nil) }
            end(turn, .loaded) { $0.append(page) }
        } catch {
            end(turn, LoadError(error).map(LoadPhase.failedMore))
        }
    }
}

extension PointsOfInterestList.State {
    /// Shows the first page in place of earlier ones.
    fileprivate mutating func show(_ page: PlacesPage?) {
        clear()
        append(page)
        receivedAt = page?.receivedAt
        isKept = page.map { $0.source != .service } ?? false
    }

    /// Shows an earlier page. Its link leads on from an old centre, so it is the only page.
    fileprivate mutating func showKept(_ page: PlacesPage) {
        show(page.shownAsKept)
        hasMore = false
    }

    /// Shows nothing.
    fileprivate mutating func clear() {
        places = []
        isKept = false
        hasMore = false
        receivedAt = nil
        (source, coverage) = (nil, nil)
    }

    /// Appends the places of a page that aren't there yet: data that change between two pages can put a place on both.
    fileprivate mutating func append(_ page: PlacesPage?) {
        places = (places + (page?.places ?? [])).uniqued(by: \.id)
        hasMore = page?.next != nil
        (source, coverage) = (page?.source ?? source, page?.coverage ?? coverage)
    }

    /// Whether one of these places isn't there yet.
    fileprivate func lacks(_ others: [PointOfInterest]) -> Bool {
        !Set(places.map(\.id)).isSuperset(of: others.map(\.id))
    }
}

extension CurrentLocationSource {
    /// Finds out where the device is.
    ///
    /// - Throws: `LocationError`; `.invalidFix` for a fix that isn't on Earth.
    func currentCoordinate() async throws(LocationError) -> Coordinate {
        guard let coordinate = try await currentLocation().coordinate else { throw .invalidFix }
        return coordinate
    }
}

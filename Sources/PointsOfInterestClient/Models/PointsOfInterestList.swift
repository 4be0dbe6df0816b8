import Foundation

/// The nearby places, as a table or a view shows them, page after page.
///
/// A table follows `updates()`; a SwiftUI view observes the list. The list loads anew when the permission to use the
/// location changes.
@MainActor
public final class PointsOfInterestList: ObservableModel<PointsOfInterestList.State> {
    /// What a list shows.
    public struct State: Hashable, Sendable {
        /// What the list is doing, or how its last load ended.
        public var phase = Phase.idle
        /// The places that were loaded, nearest first, each once. They stay while the list loads anew, and where that
        /// fails.
        public var places: [PointOfInterest] = []
        /// Whether `loadMore()` would load another page.
        public var hasMore = false
        /// When the first page of `places` was received; nil where that isn't known. It tells how old places are when
        /// there is no network.
        public var receivedAt: Date?
        /// What to load; the centre is replaced by the current location.
        public var request: NearbyPlacesRequest
    }

    /// What a list is doing, or how its last load ended.
    public enum Phase: Hashable, Sendable {
        /// Nothing was loaded yet.
        case idle
        /// The first page is being loaded, for the first time or anew.
        case loading
        /// Another page is being loaded.
        case loadingMore
        /// The last load succeeded.
        case loaded
        /// The last load of the first page failed.
        case failed(NearbyPlacesError)
        /// The load of another page failed; `loadMore()` tries the same one again.
        case failedMore(NearbyPlacesError)
    }

    private let placeFinder: any PlaceFinder
    private let locationSource: any CurrentLocationSource
    private var observation: NotificationObservation?
    private var pager: PlacePager?
    /// The loads in flight by their numbers, with their phases.
    private var loads: [Int: Phase] = [:]
    private var loadCount = 0
    /// The number of the last load that ended with a phase, and that phase. A load with a smaller number comes too late.
    private var settledLoad = 0
    private var settledPhase = Phase.idle

    /// Makes a list that is idle until it is loaded.
    ///
    /// - Parameters:
    ///   - placeFinder: finds the places: the service, or a stand-in.
    ///   - locationSource: finds out where the device is.
    ///   - notificationCenter: where `CurrentLocationProvider.authChangedNotification` is posted.
    ///   - request: what to load, with filters for instance; the centre is replaced by the current location.
    public init(
        placeFinder: any PlaceFinder, locationSource: any CurrentLocationSource,
        notificationCenter: NotificationCenter = .default,
        request: NearbyPlacesRequest = NearbyPlacesRequest(center: nil)
    ) {
        self.placeFinder = placeFinder
        self.locationSource = locationSource
        super.init(State(request: request))
        observation = NotificationObservation(
            of: CurrentLocationProvider.authChangedNotification, in: notificationCenter
        ) { [weak self] in
            await self?.load()
        }
    }
}

extension PointsOfInterestList {
    /// What the list is doing, or how its last load ended.
    public var phase: Phase { state.phase }
    /// The places that were loaded, nearest first, each once.
    public var places: [PointOfInterest] { state.places }
    /// Whether `loadMore()` would load another page.
    public var hasMore: Bool { state.hasMore }
    /// When the first page of `places` was received; nil where that isn't known.
    public var receivedAt: Date? { state.receivedAt }
    /// What to load. The centre is replaced by the current location. A change takes effect with the next `load()`.
    public var request: NearbyPlacesRequest {
        get { state.request }
        set { state.request = newValue }
    }
}

extension PointsOfInterestList {
    /// Loads the first page of places around the current location: the first load, or pull to refresh. When it
    /// returns, `phase` is `.loaded` or `.failed`.
    ///
    /// When several loads run at the same time, the list shows the result of the last one that isn't cancelled. A
    /// cancelled load restores the phase from before. Where the service doesn't respond or has failed, and there are no
    /// places to keep, the list shows the last response to this request that is kept: `phase` is `.failed`, and
    /// `receivedAt` says how old the places are.
    public func load() async {
        let load = begin(.loading)
        do {
            var request = request
            request.center = try await position()
            let pager = placeFinder.pager(for: request)
            let page = try await pager.loadNext()
            guard load > settledLoad else { return end(load, nil) }
            self.pager = pager
            end(load, .loaded) { $0.show(page) }
        } catch let error as LocationError {
            end(load, error == .cancelled ? nil : .failed(.location(error)))
        } catch {
            let error = RequestError(error)
            if error.allowsKeptPage, load > settledLoad, places.isEmpty,
                let page = await placeFinder.lastPage(of: request), load > settledLoad
            {
                end(load, .failed(.request(error))) { $0.showKept(page) }
            } else {
                end(load, error == .cancelled ? nil : .failed(.request(error)))
            }
        }
    }

    /// Loads the next page and appends its places. When it returns, `phase` is `.loaded` or `.failedMore`.
    ///
    /// After a failure it tries the same page again. It does nothing while a page is being loaded, and at the end. A
    /// cancelled call restores the phase from before. A place that is shown already isn't shown again; if a page has no
    /// other places, the next page is loaded, too.
    public func loadMore() async {
        guard let pager, hasMore, phase != .loading, phase != .loadingMore else { return }
        let load = begin(.loadingMore)
        do {
            var page = try await pager.loadNext()
            while let repeated = page, repeated.next != nil, pager === self.pager,
                !state.lacks(repeated.places)
            {
                page = try await pager.loadNext()
            }
            // If the list was loaded anew meanwhile, the page belongs to places that are no longer shown. If that load
            // failed, the page still belongs to the places that are shown.
            guard pager === self.pager else { return end(load, nil) }
            end(load, .loaded) { $0.append(page) }
        } catch {
            let error = RequestError(error)
            end(load, error == .cancelled ? nil : .failedMore(.request(error)))
        }
    }

    private func position() async throws(LocationError) -> Coordinate {
        guard let coordinate = try await locationSource.currentLocation().coordinate else {
            throw .invalidFix
        }
        return coordinate
    }

    /// Enters a phase of loading, and returns the number of the load.
    private func begin(_ phase: Phase) -> Int {
        loadCount += 1
        loads[loadCount] = phase
        state.phase = phase
        return loadCount
    }

    /// Ends a load with a phase and a change of the state; with neither if it was cancelled or came too late.
    private func end(_ load: Int, _ phase: Phase?, _ change: (inout State) -> Void = { _ in }) {
        loads[load] = nil
        if let phase, load > settledLoad {
            settledLoad = load
            settledPhase = phase
        }
        var state = state
        change(&state)
        let running = loads.keys.filter { $0 > settledLoad }.max()
        state.phase = running.flatMap { loads[$0] } ?? settledPhase
        self.state = state
    }
}

extension PointsOfInterestList.State {
    /// Shows the first page in place of earlier ones.
    fileprivate mutating func show(_ page: PlacesPage?) {
        places = []
        append(page)
        receivedAt = page?.receivedAt
    }

    /// Shows a page from an earlier launch, unless there are other places now. Its link leads on from an old centre,
    /// so it is the only page.
    fileprivate mutating func showKept(_ page: PlacesPage) {
        guard places.isEmpty else { return }
        show(page)
        hasMore = false
    }

    /// Appends the places of a page that aren't there yet: data that change between two pages can put a place on both.
    fileprivate mutating func append(_ page: PlacesPage?) {
        var ids = Set(places.map(\.id))
        places += (page?.places ?? []).filter { ids.insert($0.id).inserted }
        hasMore = page?.next != nil
    }

    /// Whether one of these places isn't there yet.
    fileprivate func lacks(_ others: [PointOfInterest]) -> Bool {
        !Set(places.map(\.id)).isSuperset(of: others.map(\.id))
    }
}

extension RequestError {
    /// Whether a kept page may be shown instead: there is no response now, or the server has failed (RFC 5861, section
    /// 4, "stale-if-error").
    fileprivate var allowsKeptPage: Bool {
        switch self {
        // Whoever redirected it, the service's response didn't come.
        case .transport, .redirectRefused: true
        case .problem(let problem): problem.status >= 500
        case .unexpectedStatus(let status): status >= 500
        case .invalidCoordinate, .invalidBaseURL, .cancelled, .notHTTP, .undecodableBody: false
        }
    }
}

/// Why the nearby places could not be loaded.
public enum NearbyPlacesError: Error, Hashable, Sendable {
    /// There is no current location.
    case location(LocationError)
    /// The request to the service failed.
    case request(RequestError)
}

extension NearbyPlacesError: LocalizedError {
    /// A sentence for people.
    public var errorDescription: String? {
        switch self {
        case .location(let error): error.errorDescription
        case .request(let error): error.errorDescription
        }
    }
}

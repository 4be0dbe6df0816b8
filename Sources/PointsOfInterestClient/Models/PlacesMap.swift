import Foundation
import PointsOfInterestHTTP

#if canImport(MapKit)
    import MapKit
#endif

/// The places in the part of the world that a map shows, one by one or counted by cells.
///
/// The map's view passes each new region to `load(_:zoom:)`. At most one request is in flight, and the last region wins.
@MainActor
public final class PlacesMap: ObservableModel<PlacesMap.State> {
    /// What a map shows.
    public struct State: Hashable, Sendable {
        /// The box that was asked for last; nil before the first. `places` and `clusters` are those of this box once it is
        /// loaded: `phase` is `.loaded` then.
        public var box: BoundingBox?
        /// The places that are shown one by one; where there are clusters, those that are alone in their cell. They stay while
        /// others are loaded, and if that fails. They always belong to `request`.
        public var places: [PointOfInterest] = []
        /// The cells with several places, none of which is in `places`; empty without a zoom. Like `places`, they stay while
        /// others are loaded, and if that fails.
        public var clusters: [PlaceCluster] = []
        /// What the map is doing, or how its last load ended.
        public var phase = LoadPhase.idle
        /// Whether the box has no other places than those that are shown, by themselves or in `clusters`; false where there
        /// are more than the request's limit.
        public var isComplete = false
        /// Whether places and clusters are not the service's of now: those of an earlier response, because the service hasn't
        /// responded yet, or of a region on the device. Places of a response have no distances.
        public var isKept = false
        /// Who has found the places; nil where there are none yet. Clusters that aren't the service's of now are `.kept`.
        public var source: PlacesPage.Source?
        /// Whether the source has all of the box; nil where there are no places yet.
        public var coverage: PlacesPage.Coverage?
        /// When they were received; nil where that isn't known.
        public var receivedAt: Date?
        /// The filters; box, radius and cursor are replaced.
        public var request: NearbyPlacesRequest
    }

    private let placeFinder: any PlaceFinder
    private let policy: LoadPolicy
    private var running: Task<Void, Never>?
    var turns = LoadTurns()
    private var lastTurn = 0
    /// The box of what is shown.
    private var shownBox: BoundingBox?

    /// Makes a map that shows nothing until it loads a box.
    ///
    /// - Parameters:
    ///   - placeFinder: finds the places: the service, or a stand-in.
    ///   - request: the filters. With a centre, places have distances, and those near it come first. Without a limit, up
    ///     to 100 places are loaded.
    ///   - policy: whether places of an earlier response are shown until the service has responded.
    public init(
        placeFinder: any PlaceFinder, request: NearbyPlacesRequest = NearbyPlacesRequest(center: nil),
        policy: LoadPolicy = .cacheAndNetwork
    ) {
        self.placeFinder = placeFinder
        self.policy = policy
        super.init(State(request: request))
    }
}

extension PlacesMap: LoadingModel {}
extension PlacesMap.State: LoadingState {}

extension PlacesMap {
    /// The box that was asked for last; nil before the first.
    public var box: BoundingBox? { state.box }
    /// The places that are shown one by one.
    public var places: [PointOfInterest] { state.places }
    /// The cells with several places, none of which is in `places`.
    public var clusters: [PlaceCluster] { state.clusters }
    /// What the map is doing, or how its last load ended.
    public var phase: LoadPhase { state.phase }
    /// Whether the box has no other places than those that are shown.
    public var isComplete: Bool { state.isComplete }
    /// Whether places and clusters are those of an earlier response, because the service hasn't responded yet.
    public var isKept: Bool { state.isKept }
    /// Who has found the places; nil where there are none yet.
    public var source: PlacesPage.Source? { state.source }
    /// Whether the source has all that was asked for; nil where there are no places yet.
    public var coverage: PlacesPage.Coverage? { state.coverage }
    /// When places and clusters were received; nil where that isn't known.
    public var receivedAt: Date? { state.receivedAt }
    /// The filters; box, radius and cursor are replaced. A change takes the places away, since they belong to another request:
    /// call `load(_:zoom:)`.
    public var request: NearbyPlacesRequest {
        get { state.request }
        set {
            guard newValue != state.request else { return }
            running?.cancel()
            turns.reset()
            shownBox = nil
            var state = State(request: newValue)
            state.box = self.state.box
            self.state = state
        }
    }
}

extension PlacesMap {
    /// Loads the places in a box; with a zoom, how many are in each cell of it, for a map of many places. It returns when they
    /// are shown or their load has failed, or when another box has replaced this one.
    ///
    /// Where what is shown doesn't cover the box, the newest response is shown until then that is kept and whose box holds it.
    /// The request for an earlier box is cancelled, and its end waited for, so however fast the map moves, the service gets one
    /// request at a time. A cancelled call leaves the places as they are.
    ///
    /// If the service doesn't have its places in memory, so that it can't count them (the problem's code is `.indexRequired`),
    /// up to the request's limit of places are loaded, and `isComplete` says whether these are all.
    ///
    /// - Parameters:
    ///   - box: what the map shows.
    ///   - zoom: the map's zoom, 0…22, as `ClustersRequest.zoom(showing:width:)` returns it; nil doesn't count.
    public func load(_ box: BoundingBox, zoom: Int? = nil) async {
        let turn = turns.begin()
        lastTurn = turn
        var state = state
        state.box = box
        state.phase = turns.phase
        self.state = state
        let earlier = running
        earlier?.cancel()
        let task = Task { [request] in await self.load(box, zoom, request, turn, after: earlier) }
        running = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func load(
        _ box: BoundingBox, _ zoom: Int?, _ request: NearbyPlacesRequest, _ turn: Int,
        after earlier: Task<Void, Never>?
    ) async {
        do {
            let content = try await loaded(showing: { await $0.showKept(box, zoom, turn) }) {
                await earlier?.value
                guard turn == lastTurn, turns.isCurrent(turn) else { throw CancellationError() }
                try Task.checkCancellation()
                return try await placeFinder.content(of: box, zoom, request)
            }
            guard turn == lastTurn, turns.isCurrent(turn) else { return end(turn, nil) }
            shownBox = box
            end(turn, .loaded) { $0.show(content) }
        } catch {
            let isLast = turn == lastTurn
            end(turn, isLast ? LoadError(error).map(LoadPhase.failed) : nil)
        }
    }

    private func showKept(_ box: BoundingBox, _ zoom: Int?, _ turn: Int) async {
        guard policy == .cacheAndNetwork, shownBox?.contains(box) != true,
            let content = await placeFinder.keptContent(of: box, zoom, request), turn == lastTurn,
            turns.isCurrent(turn)
        else { return }
        shownBox = box
        state.show(content)
    }
}

/// What was loaded of a box, or kept.
private struct MapContent: Sendable {
    var places: [PointOfInterest]
    var clusters: [PlaceCluster] = []
    var isComplete = true
    var isKept = false
    var receivedAt: Date?
    var source = PlacesPage.Source.service
    var coverage = PlacesPage.Coverage.whole
}

extension MapContent {
    init(_ page: PlacesPage) {
        self.init(
            places: page.places.uniqued(by: \.id), isComplete: page.next == nil && page.coverage == .whole,
            isKept: page.source != .service, receivedAt: page.receivedAt, source: page.source,
            coverage: page.coverage)
    }

    init(_ clusters: [PlaceCluster], receivedAt: Date?) {
        self.init(
            places: clusters.compactMap(\.place).uniqued(by: \.id),
            clusters: clusters.filter { $0.place == nil }.uniqued(by: \.self), receivedAt: receivedAt)
    }
}

extension PlaceFinder {
    fileprivate func content(
        of box: BoundingBox, _ zoom: Int?, _ filters: NearbyPlacesRequest
    ) async throws -> MapContent {
        if let zoom {
            do {
                let counted = try await clusters(filters.counted(in: box, zoom))
                return MapContent(counted.clusters, receivedAt: Date())
            } catch let error as RequestError where error.problem?.code == .indexRequired {}
        }
        return MapContent(try await nearbyPlaces(filters.located(in: box)))
    }

    fileprivate func keptContent(
        of box: BoundingBox, _ zoom: Int?, _ filters: NearbyPlacesRequest
    ) async -> MapContent? {
        var content: MapContent?
        if let zoom, let kept = await keptClusters(filters.counted(in: box, zoom)) {
            content = MapContent(kept.clusters, receivedAt: kept.receivedAt)
            content?.source = .kept
        } else if let page = await keptPage(of: filters.located(in: box)) {
            content = MapContent(page.shownAsKept)
        }
        content?.isKept = true
        return content
    }
}

extension NearbyPlacesRequest {
    /// The request for the places in a box, one by one.
    fileprivate func located(in box: BoundingBox) -> NearbyPlacesRequest {
        var request = self
        request.box = box
        request.radiusMeters = nil
        request.limit = limit ?? Self.limits.upperBound
        return request
    }

    /// The request for the clusters in a box.
    fileprivate func counted(in box: BoundingBox, _ zoom: Int) -> ClustersRequest {
        ClustersRequest(box: box, zoom: zoom, filter: filter, content: content)
    }
}

extension PlacesMap.State {
    fileprivate mutating func show(_ content: MapContent) {
        (places, clusters, isComplete) = (content.places, content.clusters, content.isComplete)
        (isKept, receivedAt) = (content.isKept, content.receivedAt)
        (source, coverage) = (content.source, content.coverage)
    }
}

extension BoundingBox {
    /// Makes the box of a map's region; nil where a span is negative or not a number.
    ///
    /// It ends at the poles. A region across the antimeridian gives a box across it, and a longitude span of 360
    /// degrees or more gives all longitudes.
    ///
    /// - Parameters:
    ///   - center: the middle of the region.
    ///   - latitudeDelta: the distance from the southern to the northern edge, in degrees.
    ///   - longitudeDelta: the distance from the western to the eastern edge, in degrees.
    public init?(center: Coordinate, latitudeDelta: Double, longitudeDelta: Double) {
        guard latitudeDelta.isFinite, longitudeDelta.isFinite, latitudeDelta >= 0, longitudeDelta >= 0 else {
            return nil
        }
        // A span that is this close to 360 degrees can be rounded to none: both edges are the same meridian then.
        let isWholeCircle = longitudeDelta > 360 - 1e-9
        self.init(
            west: isWholeCircle ? -180 : Self.wrapped(center.longitude - longitudeDelta / 2),
            south: max(center.latitude - latitudeDelta / 2, -90),
            east: isWholeCircle ? 180 : Self.wrapped(center.longitude + longitudeDelta / 2),
            north: min(center.latitude + latitudeDelta / 2, 90))
    }

    /// The meridian's number in −180…180, for one in −360…360.
    private static func wrapped(_ longitude: Double) -> Double {
        if longitude < -180 { return longitude + 360 }
        if longitude > 180 { return longitude - 360 }
        return longitude
    }
}

#if canImport(MapKit)
    extension BoundingBox {
        /// Makes the box of MapKit's region; nil where its centre isn't a position or a span isn't a number.
        public init?(_ region: MKCoordinateRegion) {
            // The centre of a region that a rectangle of map points was converted to can be beyond the antimeridian.
            let longitude = region.center.longitude.remainder(dividingBy: 360)
            guard let center = try? Coordinate(latitude: region.center.latitude, longitude: longitude) else {
                return nil
            }
            self.init(
                center: center, latitudeDelta: region.span.latitudeDelta,
                longitudeDelta: region.span.longitudeDelta)
        }
    }

    extension PlacesMap {
        /// Loads the places in a region, as `load(_:zoom:)` does for its box. A region that isn't on Earth fails.
        public func load(_ region: MKCoordinateRegion, zoom: Int? = nil) async {
            guard let box = BoundingBox(region) else {
                let turn = turns.begin()
                return end(turn, .failed(.request(.invalidCoordinate)))
            }
            await load(box, zoom: zoom)
        }
    }
#endif

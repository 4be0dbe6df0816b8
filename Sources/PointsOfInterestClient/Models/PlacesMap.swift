#if canImport(MapKit)
    import MapKit
#endif

/// The places in the part of the world that a map shows, one by one or counted by cells.
///
/// The map's view passes each new region to `show`. At most one request is in flight, and the last region wins.
@MainActor
public final class PlacesMap: ObservableModel<PlacesMap.State> {
    /// What a map shows.
    public struct State: Hashable, Sendable {
        /// The box that was asked for last; nil before the first. `places` are those of this box once it is loaded:
        /// `isLoading` is false and `lastError` nil then.
        public var box: BoundingBox?
        /// The places that were loaded last; after `show(_:zoom:)`, those that have a cluster of their own. They stay
        /// while others are loaded, and if that fails.
        public var places: [PointOfInterest] = []
        /// The cells with places that `show(_:zoom:)` has loaded; empty after `show(_:)`. Like `places`, they stay while
        /// others are loaded, and if that fails.
        public var clusters: [PlaceCluster] = []
        /// Whether the places of `box` are being loaded.
        public var isLoading = false
        /// Whether the last successful load got all places of its box, by themselves or in `clusters`; false where there
        /// are more than the request's limit.
        public var isComplete = false
        /// Why the last load failed; nil where it didn't.
        public var lastError: RequestError?
        /// The filters; box, radius and cursor are replaced.
        public var request: NearbyPlacesRequest
    }

    private let placeFinder: any PlaceFinder
    private var load: Task<Void, Never>?
    private var turn = 0

    /// Makes a map that shows nothing until one of its `show` methods is called.
    ///
    /// - Parameters:
    ///   - placeFinder: finds the places: the service, or a stand-in.
    ///   - request: the filters. With a centre, places have distances, and those near it come first. Without a limit, up
    ///     to 100 places are loaded.
    public init(
        placeFinder: any PlaceFinder, request: NearbyPlacesRequest = NearbyPlacesRequest(center: nil)
    ) {
        self.placeFinder = placeFinder
        super.init(State(request: request))
    }
}

extension PlacesMap {
    /// The box that was asked for last; nil before the first.
    public var box: BoundingBox? { state.box }
    /// The places that were loaded last.
    public var places: [PointOfInterest] { state.places }
    /// The cells with places that `show(_:zoom:)` has loaded; empty after `show(_:)`.
    public var clusters: [PlaceCluster] { state.clusters }
    /// Whether the places of `box` are being loaded.
    public var isLoading: Bool { state.isLoading }
    /// Whether the last successful load got all places of its box, by themselves or in `clusters`.
    public var isComplete: Bool { state.isComplete }
    /// Why the last load failed; nil where it didn't.
    public var lastError: RequestError? { state.lastError }
    /// The filters; box, radius and cursor are replaced. A change takes effect with the next `show(_:)`.
    public var request: NearbyPlacesRequest {
        get { state.request }
        set { state.request = newValue }
    }
}

extension PlacesMap {
    /// Loads the places in a box. It returns when they are shown or their load has failed, or when another box has
    /// replaced this one.
    ///
    /// It first cancels the request for an earlier box and waits for its end, so however fast the map moves, the service
    /// gets one request at a time. A cancelled call leaves the places as they are.
    public func show(_ box: BoundingBox) async {
        await show(box) { [placeFinder, request] in try await placeFinder.nearbyContent(of: box, request) }
    }

    /// Loads how many places are in each cell of a box, for a map of many places. Otherwise it does the same as
    /// `show(_:)`.
    ///
    /// If the service can't count the places, they are loaded up to the request's limit, each as a cluster of its own.
    ///
    /// - Parameters:
    ///   - box: what the map shows.
    ///   - zoom: the map's zoom, 0…22, as `ClustersRequest.zoom(showing:width:)` returns it.
    public func show(_ box: BoundingBox, zoom: Int) async {
        await show(box) { [placeFinder, request] in
            try await placeFinder.countedContent(of: box, zoom, request)
        }
    }

    private func show(_ box: BoundingBox, _ content: @escaping @Sendable () async throws -> MapContent) async
    {
        turn += 1
        let turn = turn
        var state = state
        state.box = box
        state.isLoading = true
        self.state = state
        load?.cancel()
        await load?.value
        guard turn == self.turn else { return }
        let task = Task { await self.load(turn, content) }
        load = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func load(_ turn: Int, _ content: () async throws -> MapContent) async {
        let outcome: Result<MapContent, RequestError>
        do {
            try Task.checkCancellation()
            outcome = .success(try await content())
        } catch {
            outcome = .failure(RequestError(error))
        }
        guard turn == self.turn else { return }
        load = nil
        state.show(outcome)
    }
}

/// What was loaded of a box.
private struct MapContent: Sendable {
    var places: [PointOfInterest]
    var clusters: [PlaceCluster] = []
    var isComplete = true
}

extension PlaceFinder {
    fileprivate func nearbyContent(
        of box: BoundingBox, _ filters: NearbyPlacesRequest
    ) async throws -> MapContent {
        var request = filters
        request.box = box
        request.radiusMeters = nil
        request.cursor = nil
        request.limit = request.limit ?? NearbyPlacesRequest.limits.upperBound
        let page = try await nearbyPlaces(request)
        return MapContent(places: page.places, isComplete: page.next == nil)
    }

    fileprivate func countedContent(
        of box: BoundingBox, _ zoom: Int, _ filters: NearbyPlacesRequest
    ) async throws -> MapContent {
        do {
            let clusters = try await clusters(
                ClustersRequest(box: box, zoom: zoom, filter: filters.filter)
            ).clusters
            return MapContent(places: clusters.compactMap(\.place), clusters: clusters)
        } catch RequestError.problem(let problem) where problem.code == .indexRequired {
            var content = try await nearbyContent(of: box, filters)
            content.clusters = content.places.compactMap(PlaceCluster.init)
            return content
        }
    }
}

extension PlacesMap.State {
    fileprivate mutating func show(_ outcome: Result<MapContent, RequestError>) {
        isLoading = false
        switch outcome {
        case .success(let content):
            (places, clusters, isComplete) = (content.places, content.clusters, content.isComplete)
            lastError = nil
        case .failure(.cancelled): break
        case .failure(let error): lastError = error
        }
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
        /// Loads the places in a region, as `show(_:)` does for its box. A region that isn't on Earth sets `lastError`.
        public func show(_ region: MKCoordinateRegion) async {
            guard let box = BoundingBox(region) else {
                state.lastError = .invalidCoordinate
                return
            }
            await show(box)
        }
    }
#endif

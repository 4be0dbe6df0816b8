/// The places of the part of the world that a map shows.
///
/// The map's view tells each new region; at most one request is in flight, and the last region wins.
@MainActor
public final class PlacesMap: ObservableModel<PlacesMap.State> {
    /// What a map shows.
    public struct State: Hashable, Sendable {
        /// The box that was asked for last; nil before the first. `places` are the box's where `isLoading` is false and
        /// `lastError` nil.
        public var box: BoundingBox?
        /// The places that were loaded last. They stay while others are loaded, and where that fails.
        public var places: [PointOfInterest] = []
        /// Whether the places of `box` are being loaded.
        public var isLoading = false
        /// Whether `places` are all there are in the box that they were loaded for; false where there are more than
        /// the request's limit.
        public var isComplete = false
        /// Why the last load failed; nil where it didn't.
        public var lastError: RequestError?
        /// The filters; box, radius and cursor are replaced.
        public var request: NearbyPlacesRequest
    }

    private let placeFinder: any PlaceFinder
    private var load: Task<Void, Never>?
    private var turn = 0

    /// Makes a map that shows nothing until it is told a box.
    ///
    /// - Parameters:
    ///   - placeFinder: finds the places: the service, or a stand-in.
    ///   - request: the filters, and a centre where places shall have distances and those near it come first. Without a
    ///     limit, up to 100 places are loaded.
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
    /// Whether the places of `box` are being loaded.
    public var isLoading: Bool { state.isLoading }
    /// Whether `places` are all there are in the box that they were loaded for.
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
    /// A request for an earlier box is cancelled first, and its end awaited: so however fast the map moves, the service
    /// gets one request at a time. A cancelled call leaves the places as they are.
    public func show(_ box: BoundingBox) async {
        turn += 1
        let turn = turn
        var state = state
        state.box = box
        state.isLoading = true
        self.state = state
        load?.cancel()
        await load?.value
        guard turn == self.turn else { return }
        let task = Task { await self.load(box, turn) }
        load = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func load(_ box: BoundingBox, _ turn: Int) async {
        var request = request
        request.box = box
        request.radiusMeters = nil
        request.cursor = nil
        request.limit = request.limit ?? NearbyPlacesRequest.limits.upperBound
        let outcome: Result<PlacesPage, RequestError>
        do {
            try Task.checkCancellation()
            outcome = .success(try await placeFinder.nearbyPlaces(request))
        } catch {
            outcome = .failure(RequestError(error))
        }
        guard turn == self.turn else { return }
        load = nil
        state.show(outcome)
    }
}

extension PlacesMap.State {
    fileprivate mutating func show(_ outcome: Result<PlacesPage, RequestError>) {
        isLoading = false
        switch outcome {
        case .success(let page):
            places = page.places
            isComplete = page.next == nil
            lastError = nil
        case .failure(.cancelled): break
        case .failure(let error): lastError = error
        }
    }
}

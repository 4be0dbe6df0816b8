import Foundation
import PointsOfInterestHTTP

/// Shows one featured place at a time, and the next one every ten seconds.
///
/// A view follows `updates()`, or observes the manager.
@MainActor
public final class FeaturedPlaceManager: ObservableModel<FeaturedPlaceManager.State> {
    /// What a manager shows.
    public struct State: Hashable, Sendable {
        /// The place to show; nil while there is none.
        public var currentPlace: PointOfInterest?
        /// The places of a round, nearest first.
        public var places: [PointOfInterest] = []
        /// What the manager is doing, or how its last load ended.
        public var phase = LoadPhase.idle
        /// Whether the places are not the service's of now: those of an earlier response, because the service hasn't responded yet,
        /// or of a region on the device. Those of a response have no distances: the device may be elsewhere.
        public var isKept = false
        /// Who has found the places; nil where there are none yet.
        public var source: PlacesPage.Source?
        /// Whether the places are all that the service would have up to the last of them; nil where there are none yet.
        public var coverage: PlacesPage.Coverage?
        /// When the places were received; nil where that isn't known.
        public var receivedAt: Date?
    }

    /// How long a place is shown, in seconds.
    public nonisolated static let interval: TimeInterval = 10
    /// The maximum number of places in a round.
    public nonisolated static let maximumPlaces = 20

    private let placeFinder: any PlaceFinder
    private let locationSource: any CurrentLocationSource
    private let timerScheduler: any TimerScheduler
    private let policy: LoadPolicy
    private var timer: Timer?
    var turns = LoadTurns()
    /// Where the distances of the places are measured from, or were.
    private var center: Coordinate?
    private var roundLoad: Task<Void, Never>?

    /// Makes a manager that shows nothing until it loads.
    ///
    /// - Parameters:
    ///   - placeFinder: finds the places: the service, or a stand-in.
    ///   - locationSource: has the last location, which is the centre of the search.
    ///   - timerScheduler: schedules the interval: the main thread's run loop, or a test's.
    ///   - policy: whether places of an earlier response are shown until the service has responded.
    public init(
        placeFinder: any PlaceFinder, locationSource: any CurrentLocationSource,
        timerScheduler: any TimerScheduler = RunLoop.main, policy: LoadPolicy = .cacheAndNetwork
    ) {
        self.policy = policy
        self.placeFinder = placeFinder
        self.locationSource = locationSource
        self.timerScheduler = timerScheduler
        super.init(State())
    }
}

extension FeaturedPlaceManager: LoadingModel {}
extension FeaturedPlaceManager.State: LoadingState {}

extension FeaturedPlaceManager {
    /// The place to show; nil while there is none.
    public var currentPlace: PointOfInterest? { state.currentPlace }
    /// The places of a round, nearest first.
    public var places: [PointOfInterest] { state.places }
    /// What the manager is doing, or how its last load ended.
    public var phase: LoadPhase { state.phase }
    /// Whether the places are those of an earlier response, because the service hasn't responded yet.
    public var isKept: Bool { state.isKept }
    /// Who has found the places; nil where there are none yet.
    public var source: PlacesPage.Source? { state.source }
    /// Whether the source has all that was asked for; nil where there are no places yet.
    public var coverage: PlacesPage.Coverage? { state.coverage }
    /// When the places were received; nil where that isn't known.
    public var receivedAt: Date? { state.receivedAt }
}

extension FeaturedPlaceManager {
    /// Shows the next place every `interval` from now on. Another call starts the interval over.
    public func scheduleNextPlace() {
        timer?.invalidate()
        let timer = Timer(delay: Self.interval, repeats: true) { [weak self] timer in
            guard let self else {
                timer.invalidate()
                return
            }
            MainActor.assumeIsolated { self.intervalPassed() }
        }
        self.timer = timer
        timerScheduler.add(timer, forMode: .common)
    }

    /// Keeps the current place until `scheduleNextPlace()` is called again.
    public func stop() {
        timer?.invalidate()
        timer = nil
    }

    /// Shows the next place of the round; after the last one, the first.
    public func showNextPlace() {
        guard !places.isEmpty else { return }
        state.currentPlace = places[(state.currentIndex.map { $0 + 1 } ?? 0) % places.count]
    }

    private func intervalPassed() {
        showNextPlace()
        // Load once a round, so that the places follow the device; one load at a time.
        guard (state.currentIndex ?? 0) == 0, roundLoad == nil else { return }
        roundLoad = Task { [weak self] in
            await self?.load()
            self?.roundLoad = nil
        }
    }
}

extension FeaturedPlaceManager {
    /// Loads the featured places near the last location. Where there is none yet, it asks for the current location
    /// first. The manager also does this after each round.
    ///
    /// Where there are no places yet, those of the last response that is kept are shown at once, without their distances.
    /// After a failure the places stay, unless they were asked for more than 50 km from where the device is. The current place
    /// stays if it is among the new places. A cancelled load changes nothing. When several loads run at the same time, the last
    /// one that isn't cancelled has an effect.
    public func load() async {
        let turn = turns.begin()
        state.phase = turns.phase
        do {
            async let position = position()
            await showKept(near: nil, turn)
            let here = try await position
            let isElsewhere = turns.isCurrent(turn) && !places.isEmpty && center?.isNear(here) == false
            if isElsewhere { state.show(nil) }
            let page = try await loaded { manager in
                if isElsewhere || manager.placeFinder.hasRegions { await manager.showKept(near: here, turn) }
            } _: {
                try await placeFinder.nearbyPlaces(Self.request(around: here))
            }
            guard turns.isCurrent(turn) else { return end(turn, nil) }
            center = here
            end(turn, .loaded) { $0.show(page) }
        } catch {
            end(turn, LoadError(error).map(LoadPhase.failed))
        }
    }

    private func showKept(near here: Coordinate?, _ turn: Int) async {
        guard policy == .cacheAndNetwork, places.isEmpty,
            let page = await placeFinder.keptPage(of: Self.request(around: here)),
            turns.isCurrent(turn), places.isEmpty
        else { return }
        center = page.center
        state.show(page.shownAsKept)
    }

    private static func request(around center: Coordinate?) -> NearbyPlacesRequest {
        NearbyPlacesRequest(center: center, limit: maximumPlaces, featured: true)
    }

    private func position() async throws(LocationError) -> Coordinate {
        if let last = locationSource.lastLocation { return last }
        return try await locationSource.currentCoordinate()
    }
}

extension FeaturedPlaceManager.State {
    fileprivate var currentIndex: Int? {
        currentPlace.flatMap { place in places.firstIndex { $0.id == place.id } }
    }

    /// Shows a new round. It goes on from the current place if that is among the new places.
    fileprivate mutating func show(_ page: PlacesPage?) {
        (receivedAt, source, coverage) = (page?.receivedAt, page?.source, page?.coverage)
        isKept = page.map { $0.source != .service } ?? false
        places = (page?.places ?? []).uniqued(by: \.id)
        currentPlace = currentIndex.map { places[$0] } ?? places.first
    }
}

/// Schedules timers: a run loop, or a test's stand-in that fires them at once.
@MainActor
public protocol TimerScheduler: AnyObject {
    /// Schedules a timer, which then fires on the main thread.
    func add(_ timer: Timer, forMode mode: RunLoop.Mode)
}

/// Use `RunLoop.main`: only the main thread's run loop fires timers on the main thread.
extension RunLoop: TimerScheduler {}

extension Timer {
    /// Makes a timer that fires after a delay in seconds, and then at that interval if it repeats.
    ///
    /// Not `init(timeInterval:repeats:block:)`, which fires at once on Linux (Swift 6.3).
    convenience init(delay: TimeInterval, repeats: Bool, block: @escaping @Sendable (Timer) -> Void) {
        self.init(fire: Date(timeIntervalSinceNow: delay), interval: delay, repeats: repeats, block: block)
    }
}

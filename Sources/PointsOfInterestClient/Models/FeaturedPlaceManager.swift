import Foundation

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
        /// Why the last refresh failed; nil where it didn't.
        public var lastError: NearbyPlacesError?
    }

    /// How long a place is shown, in seconds.
    public nonisolated static let interval: TimeInterval = 10
    /// The maximum number of places in a round.
    public nonisolated static let maximumPlaces = 20

    private let placeFinder: any PlaceFinder
    private let locationSource: any CurrentLocationSource
    private let timerScheduler: any TimerScheduler
    private var timer: Timer?
    private var refreshCount = 0
    private var roundRefresh: Task<Void, Never>?

    /// Makes a manager that shows nothing until it is refreshed.
    ///
    /// - Parameters:
    ///   - placeFinder: finds the places: the service, or a stand-in.
    ///   - locationSource: has the last location, which is the centre of the search.
    ///   - timerScheduler: schedules the interval: the main thread's run loop, or a test's.
    public init(
        placeFinder: any PlaceFinder, locationSource: any CurrentLocationSource,
        timerScheduler: any TimerScheduler = RunLoop.main
    ) {
        self.placeFinder = placeFinder
        self.locationSource = locationSource
        self.timerScheduler = timerScheduler
        super.init(State())
    }
}

extension FeaturedPlaceManager {
    /// The place to show; nil while there is none.
    public var currentPlace: PointOfInterest? { state.currentPlace }
    /// The places of a round, nearest first.
    public var places: [PointOfInterest] { state.places }
    /// Why the last refresh failed; nil where it didn't.
    public var lastError: NearbyPlacesError? { state.lastError }
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
        // Refresh once a round, so that the places follow the device; one refresh at a time.
        guard (state.currentIndex ?? 0) == 0, roundRefresh == nil else { return }
        roundRefresh = Task { [weak self] in
            await self?.refresh()
            self?.roundRefresh = nil
        }
    }
}

extension FeaturedPlaceManager {
    /// Loads the featured places near the last location. Where there is none yet, it asks for the current location
    /// first. The manager also does this after each round.
    ///
    /// A failure sets `lastError`; the places stay as they are. The current place stays if it is among the new places. A
    /// cancelled refresh changes nothing. When several refreshes run at the same time, only the last one has an effect.
    public func refresh() async {
        refreshCount += 1
        let turn = refreshCount
        do {
            let center = try await center()
            let request = NearbyPlacesRequest(center: center, limit: Self.maximumPlaces, featured: true)
            let found = try await placeFinder.places(request)
            if turn == refreshCount { state.show(found) }
        } catch let error as LocationError {
            if turn == refreshCount, error != .cancelled { state.lastError = .location(error) }
        } catch {
            let error = RequestError(error)
            if turn == refreshCount, error != .cancelled { state.lastError = .request(error) }
        }
    }

    private func center() async throws(LocationError) -> Coordinate {
        if let last = locationSource.lastLocation { return last }
        guard let current = try await locationSource.currentLocation().coordinate else { throw .invalidFix }
        return current
    }
}

extension FeaturedPlaceManager.State {
    fileprivate var currentIndex: Int? {
        currentPlace.flatMap { place in places.firstIndex { $0.id == place.id } }
    }

    /// Shows a new round. It goes on from the current place if that is among the new places.
    fileprivate mutating func show(_ found: [PointOfInterest]) {
        lastError = nil
        places = found
        currentPlace = currentIndex.map { found[$0] } ?? found.first
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

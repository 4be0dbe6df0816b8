import Foundation

#if canImport(Combine)
    import Combine
#endif

/// Shows one featured place at a time, and the next one every ten seconds.
///
/// A view follows `updates()`, or observes the manager, which is an `ObservableObject` where there is Combine.
@MainActor
public final class FeaturedPlaceManager {
    /// How long a place is shown, in seconds.
    public nonisolated static let interval: TimeInterval = 10
    /// The maximum number of places in a round.
    public nonisolated static let maximumPlaces = 20

    /// The place to show; nil while there is none.
    public private(set) var currentPlace: PointOfInterest? {
        willSet {
            #if canImport(Combine)
                if newValue != currentPlace { objectWillChange.send() }
            #endif
        }
        didSet { if oldValue != currentPlace { changes.send(currentPlace) } }
    }
    /// The places of a round, nearest first.
    public private(set) var places: [PointOfInterest] = []
    /// Why the last refresh failed; nil where it didn't.
    public private(set) var lastError: RequestError?

    private let placeFinder: any PlaceFinder
    private let locationSource: any CurrentLocationSource
    private let timerScheduler: any TimerScheduler
    private let changes = Broadcast<PointOfInterest?>()
    private var timer: Timer?
    private var refreshCount = 0
    private var roundRefresh: Task<Void, Never>?

    #if canImport(Combine)
        private let changePublisher = ChangePublisher()

        /// Announces a change of `currentPlace`, before it happens.
        public nonisolated var objectWillChange: ObservableObjectPublisher { changePublisher.publisher }
    #endif

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
    }

    /// Returns the current place, and then each one that replaces it.
    public func updates() -> AsyncStream<PointOfInterest?> { changes.stream(startingWith: currentPlace) }
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
        currentPlace = places[(currentIndex.map { $0 + 1 } ?? 0) % places.count]
    }

    private var currentIndex: Int? {
        currentPlace.flatMap { place in places.firstIndex { $0.id == place.id } }
    }

    private func intervalPassed() {
        showNextPlace()
        // Refresh once a round, so that the places follow the device; one refresh at a time.
        guard (currentIndex ?? 0) == 0, roundRefresh == nil else { return }
        roundRefresh = Task { [weak self] in
            await self?.refresh()
            self?.roundRefresh = nil
        }
    }
}

extension FeaturedPlaceManager {
    /// Loads the featured places near the last location. The manager also does this after each round.
    ///
    /// The places stay as they are where there is no location yet, and where the request fails or is cancelled, which
    /// sets `lastError`. The current place stays where it is among the new ones. Of several refreshes at the same
    /// time, the last one counts.
    public func refresh() async {
        guard let center = locationSource.lastLocation else { return }
        refreshCount += 1
        let turn = refreshCount
        let request = NearbyPlacesRequest(center: center, limit: Self.maximumPlaces, featured: true)
        let found: [PointOfInterest]
        do {
            found = try await placeFinder.places(request)
        } catch {
            if turn == refreshCount { lastError = RequestError(error) }
            return
        }
        guard turn == refreshCount else { return }
        lastError = nil
        places = found
        currentPlace = currentIndex.map { found[$0] } ?? found.first
    }
}

#if canImport(Combine)
    extension FeaturedPlaceManager: ObservableObject {}
#endif

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

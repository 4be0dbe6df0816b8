import Foundation

/// Tells where the device is, and whether that is a point of interest.
///
/// Its state is the main actor's. It is its fetcher's delegate, so a fetcher serves one provider. Questions
/// that wait at the same time share one fix; nobody is told a fix that came before the question.
@MainActor
public final class CurrentLocationProvider: NSObject {
    /// Posted, with the provider as its object, when the person has decided anew about the app's access to the
    /// location. On the main thread.
    public nonisolated static let authChangedNotification = Notification.Name(
        "CurrentLocationProvider.authChangedNotification")
    /// The accuracy that a fix should have, in metres.
    public nonisolated static let desiredAccuracyMeters = 100.0
    /// The radius in metres that a point of interest is looked for in, where the fix is better than that.
    public nonisolated static let leastRadiusMeters = 100.0
    /// The accuracy in metres beyond which a fix can't tell a point of interest.
    public nonisolated static let roughestAccuracyMeters = 500.0

    /// The position of the last valid fix; nil before the first.
    public private(set) var lastLocation: Coordinate?

    let locationFetcher: any LocationFetcher
    let placeFinder: any PlaceFinder
    private let notificationCenter: NotificationCenter
    private let timerScheduler: any TimerScheduler
    private let timeLimit: TimeInterval

    private typealias Outcome = Result<LocationFix, LocationError>
    private var waiting: [UUID: CheckedContinuation<Outcome, Never>] = [:]
    private var knownAuthorization: LocationAuthorization
    private var isFetching = false
    private var timer: Timer?

    /// Makes a provider and becomes the fetcher's delegate.
    ///
    /// - Parameters:
    ///   - locationFetcher: the device's location manager, or a test's.
    ///   - notificationCenter: where `authChangedNotification` is posted.
    ///   - placeFinder: the service.
    ///   - timerScheduler: what the time limit runs on: the main thread's run loop, or a test's.
    ///   - timeLimit: how long the device may look for a fix, in seconds, above 0. The time in which a person
    ///     decides about the app's access doesn't count.
    public init(
        locationFetcher: any LocationFetcher, notificationCenter: NotificationCenter = .default,
        placeFinder: any PlaceFinder, timerScheduler: any TimerScheduler = RunLoop.main,
        timeLimit: TimeInterval = 30
    ) {
        self.locationFetcher = locationFetcher
        self.notificationCenter = notificationCenter
        self.placeFinder = placeFinder
        self.timerScheduler = timerScheduler
        self.timeLimit = timeLimit
        knownAuthorization = locationFetcher.locationAuthorization
        super.init()
        locationFetcher.desiredAccuracy = Self.desiredAccuracyMeters
        locationFetcher.locationFetcherDelegate = self
    }
}

extension CurrentLocationProvider: CurrentLocationSource {
    /// Finds out where the device is now, after asking the person for permission if they have not decided yet.
    ///
    /// - Throws: `LocationError`; `.cancelled` at once when the task is cancelled.
    public func currentLocation() async throws(LocationError) -> LocationFix {
        let id = UUID()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in wait(id, continuation) }
        } onCancel: {
            Task { @MainActor in self.giveUp(id) }
        }
        return try outcome.get()
    }

    private func wait(_ id: UUID, _ continuation: CheckedContinuation<Outcome, Never>) {
        guard !Task.isCancelled else {
            continuation.resume(returning: .failure(.cancelled))
            return
        }
        // Before the fetcher is asked: it may answer within the call.
        waiting[id] = continuation
        proceed(with: locationFetcher.locationAuthorization)
    }

    /// Does for those who wait what the person's decision allows.
    private func proceed(with authorization: LocationAuthorization) {
        switch authorization {
        case .notDetermined: locationFetcher.requestWhenInUseAuthorization()
        case .restricted, .denied: finish(.failure(.notAuthorized))
        case .reducedAccuracy, .fullAccuracy: fetch()
        }
    }

    private func fetch() {
        guard !isFetching else { return }
        isFetching = true
        locationFetcher.requestLocation()
        guard isFetching else { return }
        let timer = Timer(delay: timeLimit, repeats: false) { [weak self] _ in
            MainActor.assumeIsolated { self?.giveUp(.timedOut) }
        }
        self.timer = timer
        timerScheduler.add(timer, forMode: .common)
    }

    private func giveUp(_ id: UUID) {
        guard let continuation = waiting.removeValue(forKey: id) else { return }
        if waiting.isEmpty { giveUp(.cancelled) }
        continuation.resume(returning: .failure(.cancelled))
    }

    private func giveUp(_ error: LocationError) {
        if isFetching { locationFetcher.stopUpdatingLocation() }
        finish(.failure(error))
    }

    private func finish(_ outcome: Outcome) {
        isFetching = false
        timer?.invalidate()
        timer = nil
        let continuations = waiting.values
        waiting = [:]
        for continuation in continuations { continuation.resume(returning: outcome) }
    }
}

extension CurrentLocationProvider: LocationFetcherDelegate {
    /// Tells the newest of the fixes to everybody who waits for one.
    public func locationFetcher(_ fetcher: any LocationFetcher, didUpdateLocations locations: [LocationFix]) {
        guard let fix = locations.last, let coordinate = fix.coordinate else {
            finish(.failure(.invalidFix))
            return
        }
        lastLocation = coordinate
        finish(.success(fix))
    }

    /// Tells the failure to everybody who waits for a fix.
    public func locationFetcher(_ fetcher: any LocationFetcher, didFailWithError error: LocationFailure) {
        finish(.failure(error.isDenied ? .notAuthorized : .failed(error)))
    }

    /// Goes on with the questions that waited for the decision, and posts `authChangedNotification` if there
    /// is a new one.
    public func locationFetcherDidChangeAuthorization(_ fetcher: any LocationFetcher) {
        let authorization = fetcher.locationAuthorization
        // Core Location also calls when it gets its delegate, and an app must not load twice at its start.
        guard authorization != knownAuthorization else { return }
        knownAuthorization = authorization
        if authorization != .notDetermined, !waiting.isEmpty { proceed(with: authorization) }
        notificationCenter.post(name: Self.authChangedNotification, object: self)
    }
}

/// Who knows where the device is.
@MainActor
public protocol CurrentLocationSource: AnyObject {
    /// The position of the last valid fix; nil before the first.
    var lastLocation: Coordinate? { get }

    /// Finds out where the device is now.
    ///
    /// - Throws: `LocationError`.
    func currentLocation() async throws(LocationError) -> LocationFix
}

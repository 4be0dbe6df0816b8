import Foundation
import PointsOfInterestHTTP

/// Finds out where the device is, and whether that is at a point of interest.
///
/// It becomes the delegate of its fetcher, so a fetcher has one provider. Calls that wait at the same time share one
/// fix; no call gets a fix from before it began.
@MainActor
public final class CurrentLocationProvider: NSObject {
    /// Posted on the main thread, with the provider as its object, when the person has changed the app's permission
    /// to use the location.
    public nonisolated static let authChangedNotification = Notification.Name(
        "CurrentLocationProvider.authChangedNotification")
    /// The accuracy that is requested of the device, in metres.
    public nonisolated static let desiredAccuracyMeters = 100.0
    /// The minimum radius in metres that a point of interest is searched in, however accurate the fix is.
    public nonisolated static let minimumRadiusMeters = 100.0
    /// The maximum horizontal accuracy in metres of a fix that a point of interest is searched with.
    public nonisolated static let maximumAccuracyMeters = 500.0

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
    ///   - timerScheduler: schedules the time limit: the main thread's run loop, or a test's.
    ///   - timeLimit: how long the device may take for a fix, in seconds, above 0. The time in which the person
    ///     decides about the permission doesn't count.
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
    /// Finds out where the device is now. Asks the person for permission first, unless they have decided.
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
        // The call is added before the fetcher is called, because that may call its delegate at once.
        waiting[id] = continuation
        proceed(with: locationFetcher.locationAuthorization)
    }

    /// Continues the waiting calls as far as the permission allows.
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
    /// Ends all waiting calls: they return the newest fix, or throw `.invalidFix`.
    public func locationFetcher(_ fetcher: any LocationFetcher, didUpdateLocations locations: [LocationFix]) {
        guard let fix = locations.last, let coordinate = fix.coordinate else {
            finish(.failure(.invalidFix))
            return
        }
        lastLocation = coordinate
        finish(.success(fix))
    }

    /// Ends all waiting calls: they throw the failure, or `.notAuthorized` if the person refused.
    public func locationFetcher(_ fetcher: any LocationFetcher, didFailWithError error: LocationFailure) {
        finish(.failure(error.isDenied ? .notAuthorized : .failed(error)))
    }

    /// Continues the calls that waited for the permission, and posts `authChangedNotification` if the permission has
    /// changed.
    public func locationFetcherDidChangeAuthorization(_ fetcher: any LocationFetcher) {
        let authorization = fetcher.locationAuthorization
        // Core Location also calls this when it gets its delegate; an app must not load twice at its start.
        guard authorization != knownAuthorization else { return }
        knownAuthorization = authorization
        if authorization != .notDetermined, !waiting.isEmpty { proceed(with: authorization) }
        notificationCenter.post(name: Self.authChangedNotification, object: self)
    }
}

/// Finds out where the device is: a `CurrentLocationProvider`, or a stand-in in a test.
@MainActor
public protocol CurrentLocationSource: AnyObject {
    /// The position of the last valid fix; nil before the first.
    var lastLocation: Coordinate? { get }

    /// Finds out where the device is now.
    ///
    /// - Throws: `LocationError`.
    func currentLocation() async throws(LocationError) -> LocationFix
}

extension CurrentLocationProvider {
    /// Whether the device is at a point of interest.
    public enum Status: Hashable, Sendable {
        /// It is at this one, the nearest.
        case atPointOfInterest(PointOfInterest)
        /// It is at none.
        case elsewhere
        /// The fix is invalid, or not accurate enough to tell.
        case unknown
        /// The person doesn't allow the app to use the location, or can't allow it.
        case notAuthorized
        /// The device failed to find out where it is.
        case locationFailed(LocationFailure)
        /// The device didn't find out where it is in time.
        case locationTimedOut
        /// The request to the service failed.
        case requestFailed(RequestError)
        /// The task was cancelled.
        case cancelled

        /// Whether the device is at a point of interest; nil where that isn't known.
        public var isPointOfInterest: Bool? {
            switch self {
            case .atPointOfInterest: true
            case .elsewhere: false
            default: nil
            }
        }
    }
}

extension CurrentLocationProvider.Status {
    init(_ error: LocationError) {
        switch error {
        case .notAuthorized: self = .notAuthorized
        case .failed(let failure): self = .locationFailed(failure)
        case .timedOut: self = .locationTimedOut
        case .invalidFix: self = .unknown
        case .cancelled: self = .cancelled
        }
    }

    init(_ error: RequestError) {
        self = error == .cancelled ? .cancelled : .requestFailed(error)
    }
}

extension CurrentLocationProvider {
    /// Finds out whether the device is at a point of interest: whether the service finds one within the fix's
    /// accuracy, or within 100 m where that is less.
    ///
    /// It doesn't throw: failures are cases of the status. When the task is cancelled, it returns `.cancelled` at
    /// once.
    public func checkCurrentLocation() async -> CurrentLocationProvider.Status {
        do {
            let fix = try await currentLocation()
            guard let center = fix.coordinate, fix.horizontalAccuracy <= Self.maximumAccuracyMeters else {
                return .unknown
            }
            let radius = max(fix.horizontalAccuracy, Self.minimumRadiusMeters)
            let request = NearbyPlacesRequest(center: center, radiusMeters: radius, limit: 1)
            guard let nearest = try await placeFinder.places(request).first else { return .elsewhere }
            return .atPointOfInterest(nearest)
        } catch let error as LocationError {
            return CurrentLocationProvider.Status(error)
        } catch {
            return CurrentLocationProvider.Status(RequestError(error))
        }
    }

    /// Passes the same status to a handler. The handler is called once, on the main actor, after this function has
    /// returned.
    ///
    /// - Returns: the task; when it is cancelled, the handler gets `.cancelled`.
    @discardableResult
    public func checkCurrentLocation(
        completionHandler: @escaping @MainActor @Sendable (CurrentLocationProvider.Status) -> Void
    ) -> Task<Void, Never> {
        Task { completionHandler(await checkCurrentLocation()) }
    }
}

import Foundation
import Locking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension AppEnvironment {
    /// Makes the parts of an app whose outside world is a test's: no network, no device, no time, and a
    /// notification center of its own. Nothing is sent twice, since there is no time to pause.
    ///
    /// - Parameters:
    ///   - configuration: what the app is told at its launch; its service is nowhere.
    ///   - notificationCenter: where the app's parts tell each other what happens.
    ///   - timerScheduler: fires at once, unless the test says otherwise.
    ///   - locationFetcher: is in San José, unless the test says otherwise.
    ///   - tracker: takes tracking events.
    ///   - handler: answers requests, by default with the recorded response of their endpoint.
    public static func mock(
        configuration: AppConfiguration = .mock,
        notificationCenter: NotificationCenter = MockNotificationCenter(),
        timerScheduler: any TimerScheduler = MockTimerScheduler(),
        locationFetcher: any LocationFetcher = MockLocationFetcher(),
        tracker: any Tracker = MockTracker(),
        handler: @escaping MockURLProtocol.Handler = { try RecordedResponse.answer(to: $0) }
    ) -> AppEnvironment {
        AppEnvironment(
            configuration: configuration, urlSession: MockURLProtocol.session(handler), retryPolicy: .never,
            notificationCenter: notificationCenter, timerScheduler: timerScheduler,
            locationFetcher: locationFetcher, tracker: tracker)
    }
}

extension AppConfiguration {
    /// The configuration of a test: a service that is nowhere, no headers, and `isUnitTesting`.
    public static var mock: AppConfiguration {
        guard let url = URL(string: "https://service.test") else {
            preconditionFailure("Foundation does not take a plain URL")
        }
        return AppConfiguration(baseURL: url, isUnitTesting: true)
    }
}

/// A service that a test controls, without a network.
public final class MockPlaceFinder: PlaceFinder {
    /// Answers a request; an error fails it.
    public typealias Handler = @Sendable (NearbyPlacesRequest) async throws -> [PointOfInterest]

    private let handler: Handler
    private let asked = Lock<[NearbyPlacesRequest]>([])

    /// Makes a service that answers so.
    public init(_ handler: @escaping Handler) {
        self.handler = handler
    }

    /// Makes a service that always answers these places.
    public convenience init(_ places: [PointOfInterest]) {
        self.init { _ in places }
    }

    /// All requests so far, in order.
    public var requests: [NearbyPlacesRequest] { asked.withLock { $0 } }

    /// Answers as the handler says.
    public func places(_ request: NearbyPlacesRequest) async throws -> [PointOfInterest] {
        asked.withLock { $0.append(request) }
        return try await handler(request)
    }
}

/// A scheduler whose timers fire at once, or when a test says so, and never by themselves.
@MainActor
public final class MockTimerScheduler: TimerScheduler {
    /// Whether timers fire within `add`.
    public var firesAtOnce: Bool
    /// The timers that were added, in order.
    public private(set) var timers: [Timer] = []
    /// The delay in seconds that each timer was added with: a repeating one's interval, exactly; of one that
    /// fires once what was left of it.
    public private(set) var delays: [TimeInterval] = []

    /// Makes a scheduler.
    public init(firesAtOnce: Bool = true) {
        self.firesAtOnce = firesAtOnce
    }

    /// Takes note of a timer's delay and fires it once, or keeps it.
    public func add(_ timer: Timer, forMode mode: RunLoop.Mode) {
        timers.append(timer)
        delays.append(timer.timeInterval > 0 ? timer.timeInterval : timer.fireDate.timeIntervalSinceNow)
        if firesAtOnce { timer.fire() }
    }

    /// Fires every timer that is still valid, as if its delay had passed.
    public func fire() {
        for timer in timers where timer.isValid { timer.fire() }
    }
}

/// A notification center of a test's own, which takes note of what is posted to it.
///
/// Unchecked, because notifications are posted on any thread; the lock guards the notes.
public final class MockNotificationCenter: NotificationCenter, @unchecked Sendable {
    private let names = Lock<[Notification.Name]>([])

    // Foundation for Linux requires the initialiser of subclasses, Apple's doesn't.
    #if canImport(Darwin)
        /// Makes a center without observers.
        public override init() {
            super.init()
            takeNotes()
        }
    #else
        /// Makes a center without observers.
        public required init() {
            super.init()
            takeNotes()
        }
    #endif

    /// The names of all notifications so far, in order.
    public var postedNames: [Notification.Name] { names.withLock { $0 } }

    private func takeNotes() {
        // The observer stays as long as the center, so nobody keeps its token.
        _ = addObserver(forName: nil, object: nil, queue: nil) { [names] notification in
            names.withLock { $0.append(notification.name) }
        }
    }
}

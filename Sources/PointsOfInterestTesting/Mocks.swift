import Foundation
import Locking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension AppEnvironment {
    /// Makes the parts of an app for a test: without network, device and waiting, and with a notification center of
    /// its own. Each request is sent once.
    ///
    /// - Parameters:
    ///   - configuration: the configuration of the launch; its service doesn't exist.
    ///   - notificationCenter: the notification center that the app's parts post to.
    ///   - timerScheduler: schedules timers. The default records them and fires none, so that no time passes unless the
    ///     test lets it. One that fires at once also ends the time limit of `currentLocation()` at once, which then
    ///     throws `.timedOut` unless the fetcher has a fix at once.
    ///   - locationFetcher: the location; the default is in San José.
    ///   - tracker: takes the tracking events.
    ///   - handler: responds to requests; the default returns the recorded response of the endpoint.
    public static func mock(
        configuration: AppConfiguration = .mock,
        notificationCenter: NotificationCenter = MockNotificationCenter(),
        timerScheduler: any TimerScheduler = MockTimerScheduler(firesAtOnce: false),
        locationFetcher: any LocationFetcher = MockLocationFetcher(),
        tracker: any Tracker = MockTracker(),
        handler: @escaping MockURLProtocol.Handler = { try RecordedResponse.response(to: $0) }
    ) -> AppEnvironment {
        AppEnvironment(
            configuration: configuration, urlSession: MockURLProtocol.session(handler), retryPolicy: .never,
            notificationCenter: notificationCenter, timerScheduler: timerScheduler,
            locationFetcher: locationFetcher, tracker: tracker)
    }
}

extension AppConfiguration {
    /// The configuration of a test: a service that doesn't exist, no headers, `isUnitTesting`, and always the same user.
    public static var mock: AppConfiguration {
        guard let url = URL(string: "https://service.test") else {
            preconditionFailure("Foundation does not take a plain URL")
        }
        return AppConfiguration(baseURL: url, isUnitTesting: true, userID: { "user-of-a-test" })
    }
}

/// A scheduler whose timers fire at once or when the test fires them, never by themselves.
@MainActor
public final class MockTimerScheduler: TimerScheduler {
    /// Whether timers fire within `add`.
    public var firesAtOnce: Bool
    /// The timers that were added, in order.
    public private(set) var timers: [Timer] = []
    /// The delay of each timer in seconds. For a repeating timer this is its interval; for one that fires once, the
    /// time that was left when it was added.
    public private(set) var delays: [TimeInterval] = []

    /// Makes a scheduler.
    public init(firesAtOnce: Bool = true) {
        self.firesAtOnce = firesAtOnce
    }

    /// Records a timer and its delay, and fires it where `firesAtOnce` is set.
    public func add(_ timer: Timer, forMode mode: RunLoop.Mode) {
        timers.append(timer)
        delays.append(timer.timeInterval > 0 ? timer.timeInterval : timer.fireDate.timeIntervalSinceNow)
        if firesAtOnce { timer.fire() }
    }

    /// Fires every valid timer, as if its delay had passed.
    public func fire() {
        for timer in timers where timer.isValid { timer.fire() }
    }
}

/// A notification center for one test, which records what is posted to it.
///
/// Unchecked, because the compiler can't check a subclass of `NotificationCenter`. A lock guards the record.
public final class MockNotificationCenter: NotificationCenter, @unchecked Sendable {
    private let names = Lock<[Notification.Name]>([])

    // On Linux, Foundation requires this initialiser of subclasses.
    #if canImport(Darwin)
        /// Makes a center without observers.
        public override init() {
            super.init()
            recordAll()
        }
    #else
        /// Makes a center without observers.
        public required init() {
            super.init()
            recordAll()
        }
    #endif

    /// The names of all notifications so far, in order.
    public var postedNames: [Notification.Name] { names.withLock { $0 } }

    private func recordAll() {
        // The observer stays as long as the center, so its token isn't kept.
        _ = addObserver(forName: nil, object: nil, queue: nil) { [names] notification in
            names.withLock { $0.append(notification.name) }
        }
    }
}

import Foundation
import Locking
import PointsOfInterestHTTP

/// Takes the tracking events of an app's screens and hands them to a tracker and to observers.
///
/// It is a value: copies share the tracker and the observers. Its methods may be called on any thread.
public struct TrackingModel: Sendable {
    private let actionCreator: TrackingActionCreator
    package let dispatcher: TrackingDispatcher

    /// Makes a model. `AppEnvironment` makes one for an app.
    ///
    /// - Parameters:
    ///   - tracker: where the events go.
    ///   - isTest: marks each event as a test's; the service leaves these out of its reports.
    ///   - userID: returns who uses the app now, 1 to 200 bytes. Called for each event, since users sign in and out.
    public init(tracker: any Tracker, isTest: Bool = false, userID: @escaping @Sendable () -> String) {
        self.init(
            actionCreator: TrackingActionCreator(userID: userID, isTest: isTest),
            dispatcher: TrackingDispatcher(tracker: tracker))
    }

    package init(actionCreator: TrackingActionCreator, dispatcher: TrackingDispatcher) {
        self.actionCreator = actionCreator
        self.dispatcher = dispatcher
    }

    /// Sends a built-in event, `.launch` for instance. Returns when the tracker has it, without waiting for the network or
    /// the disk.
    public func sendTrackingEvent(_ event: TrackingEvent) {
        dispatcher.dispatch(actionCreator.makeEvent(event))
    }

    /// Sends an event of the app's own type in the same way.
    ///
    /// Its name is another one, so that the compiler says what is wrong with `sendTrackingEvent(.search(…))`.
    public func sendOwnEvent(_ event: some TrackableEvent) {
        dispatcher.dispatch(actionCreator.makeEvent(event))
    }

    /// Returns every event that is sent from now on, in order, for an app's own log for instance.
    ///
    /// Each call adds an observer, which misses nothing however late it reads.
    public func events() -> AsyncStream<TrackedEvent> { dispatcher.events() }
}

/// Stores or sends tracking events. `EventQueue` does for an app; `MockTracker` records them in a test.
public protocol Tracker: Sendable {
    /// Takes an event. Called on any thread, also the main one, so it mustn't wait for the network or the disk.
    func track(_ event: TrackedEvent)
}

/// Drops events, for an app without a queue: only observers see them.
struct NowhereTracker: Tracker {
    func track(_ event: TrackedEvent) {}
}

/// Makes an event to send: adds an id, the user and the time to what happened in the app.
package struct TrackingActionCreator: Sendable {
    private let userID: @Sendable () -> String
    private let isTest: Bool
    private let now: @Sendable () -> Date
    private let makeID: @Sendable () -> UUID

    /// Makes a creator.
    ///
    /// - Parameters:
    ///   - userID: returns who uses the app now; called for each event.
    ///   - isTest: marks each event as a test's.
    ///   - now: returns the time.
    ///   - makeID: returns an id that no other event has.
    package init(
        userID: @escaping @Sendable () -> String, isTest: Bool = false,
        now: @escaping @Sendable () -> Date = { Date() }, makeID: @escaping @Sendable () -> UUID = { UUID() }
    ) {
        self.userID = userID
        self.isTest = isTest
        self.now = now
        self.makeID = makeID
    }

    /// Makes the event of this moment. Its time is rounded to a millisecond.
    func makeEvent(_ event: some TrackableEvent) -> TrackedEvent {
        TrackedEvent(
            id: makeID(), userID: userID(), time: (now().timeIntervalSince1970 * 1000).rounded() / 1000,
            event: event as? TrackingEvent ?? TrackingEvent(event.content), isTest: isTest)
    }
}

/// Hands each event to a tracker and then to all observers.
package final class TrackingDispatcher: Sendable {
    private struct State {
        var continuations: [Int: AsyncStream<TrackedEvent>.Continuation] = [:]
        var observerCount = 0
        var isFinished = false
    }

    private let tracker: any Tracker
    private let state = Lock(State())

    package init(tracker: any Tracker) {
        self.tracker = tracker
    }

    /// Returns every event that is dispatched from now on, in order, until `finish()` is called.
    package func events() -> AsyncStream<TrackedEvent> { observe().events }

    /// Does the same for an observer that may end its own stream.
    package func observe() -> (events: AsyncStream<TrackedEvent>, end: @Sendable () -> Void) {
        let (stream, continuation) = AsyncStream.makeStream(of: TrackedEvent.self)
        let number = state.withLock { state -> Int? in
            guard !state.isFinished else { return nil }
            state.observerCount += 1
            state.continuations[state.observerCount] = continuation
            return state.observerCount
        }
        guard let number else {
            continuation.finish()
            return (stream, {})
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.continuations[number] = nil }
        }
        return (stream, { continuation.finish() })
    }

    /// Hands an event on. Called on any thread.
    func dispatch(_ event: TrackedEvent) {
        // Within the lock, so that observers and the tracker get events in the same order.
        state.withLock { state in
            tracker.track(event)
            for continuation in state.continuations.values { continuation.yield(event) }
        }
    }

    /// Ends the streams of all observers. Later events go to the tracker only.
    package func finish() {
        let continuations = state.withLock { state in
            defer { state.continuations = [:] }
            state.isFinished = true
            return state.continuations
        }
        for continuation in continuations.values { continuation.finish() }
    }
}

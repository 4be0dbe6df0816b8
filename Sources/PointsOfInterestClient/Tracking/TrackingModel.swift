import Foundation
import Locking

/// What an app's screens tell their events to.
///
/// A value: copies share the dispatcher.
public struct TrackingModel: Sendable {
    private let actionCreator: TrackingActionCreator
    /// Publishes each event that is sent here.
    public let dispatcher: TrackingDispatcher

    /// Makes a model.
    public init(actionCreator: TrackingActionCreator, dispatcher: TrackingDispatcher) {
        self.actionCreator = actionCreator
        self.dispatcher = dispatcher
    }

    /// Sends an event, one of a team's own too. Called on any thread, the main one too; returns once the event is
    /// in the tracker's hands, which no network and no disk is waited for.
    public func sendTrackingEvent(_ event: some TrackableEvent) {
        dispatcher.dispatch(actionCreator.makeEvent(event))
    }

    /// Sends one of the events that are built in, so that a screen says `sendTrackingEvent(.launch)`.
    public func sendTrackingEvent(_ event: TrackingEvent) {
        dispatcher.dispatch(actionCreator.makeEvent(event))
    }
}

/// Makes of what happened in the app the event that is sent: with its id, its user and its time.
public struct TrackingActionCreator: Sendable {
    private let userID: @Sendable () -> String
    private let isTest: Bool
    private let now: @Sendable () -> Date
    private let makeID: @Sendable () -> UUID

    /// Makes a creator.
    ///
    /// - Parameters:
    ///   - userID: who uses the app now: 1 to 200 bytes. Asked for each event, since users sign in and out.
    ///   - isTest: whether this is a test's run, whose events are left out of what is reported.
    ///   - now: the time.
    ///   - makeID: makes an id that no other event has.
    public init(
        userID: @escaping @Sendable () -> String, isTest: Bool = false,
        now: @escaping @Sendable () -> Date = { Date() }, makeID: @escaping @Sendable () -> UUID = { UUID() }
    ) {
        self.userID = userID
        self.isTest = isTest
        self.now = now
        self.makeID = makeID
    }

    /// Makes the event of this moment. Its time is exact to a millisecond, which is what it is worth.
    public func makeEvent(_ event: some TrackableEvent) -> TrackedEvent {
        TrackedEvent(
            id: makeID(), userID: userID(), time: (now().timeIntervalSince1970 * 1000).rounded() / 1000,
            event: event as? TrackingEvent ?? TrackingEvent(event.content), isTest: isTest)
    }
}

/// Hands each event to a tracker, and tells it to whoever observes: an app's own log, a test.
public final class TrackingDispatcher: Sendable {
    private struct State {
        var continuations: [Int: AsyncStream<TrackedEvent>.Continuation] = [:]
        var observerCount = 0
        var isFinished = false
    }

    private let tracker: any Tracker
    private let state = Lock(State())

    /// Makes a dispatcher.
    ///
    /// - Parameter tracker: where the events go.
    public init(tracker: any Tracker) {
        self.tracker = tracker
    }

    /// Every event from now on, in the order in which they are dispatched; ends when the dispatcher finishes.
    ///
    /// Each call makes an observer of its own, which misses nothing however late it reads.
    public func events() -> AsyncStream<TrackedEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: TrackedEvent.self)
        let number = state.withLock { state -> Int? in
            guard !state.isFinished else { return nil }
            state.observerCount += 1
            state.continuations[state.observerCount] = continuation
            return state.observerCount
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.continuations[number] = nil }
        }
        return stream
    }

    /// Hands an event on. Called on any thread.
    public func dispatch(_ event: TrackedEvent) {
        // Within the lock, so that observers see the order in which the tracker gets them.
        state.withLock { state in
            tracker.track(event)
            for continuation in state.continuations.values { continuation.yield(event) }
        }
    }

    /// Ends every observer's events; later ones still go to the tracker. The end of a test's scenario.
    public func finish() {
        let continuations = state.withLock { state in
            defer { state.continuations = [:] }
            state.isFinished = true
            return state.continuations
        }
        for continuation in continuations.values { continuation.finish() }
    }
}

/// Takes events to where they are counted. `EventQueue` does; a test has `MockTracker`.
public protocol Tracker: Sendable {
    /// Takes an event. Called on any thread, the main one too; doesn't wait for a network or a disk.
    func track(_ event: TrackedEvent)
}

/// A tracker for an app without a queue: its events only get to observers.
struct NowhereTracker: Tracker {
    func track(_ event: TrackedEvent) {}
}

import Locking
import Foundation

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

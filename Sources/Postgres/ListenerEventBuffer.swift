import Locking
import EventLoop

/// A listener's events on their way to the reader: bounded, and never silent about what it drops.
///
/// Usable from any thread; for one reader at a time. A reader that is too slow loses everything that waits,
/// and gets one gap for it: after a gap it reads afresh what notifications stand for, so older ones are of no
/// use to it.
final class ListenerEventBuffer: Sendable {
    typealias Event = PostgresListener.Event

    private struct State {
        var events = FirstInFirstOut<Event>()
        var reader: UnsafeContinuation<Event?, Never>?
        var isFinished = false
    }

    private let capacity: Int
    private let state = Lock(State())

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// Hands an event to the reader, now or later.
    func append(_ event: Event) {
        let reader = state.withLock { state -> UnsafeContinuation<Event?, Never>? in
            guard !state.isFinished else { return nil }
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            if state.events.count >= capacity {
                state.events = FirstInFirstOut()
                state.events.append(.gap)
            } else {
                state.events.append(event)
            }
            return nil
        }
        reader?.resume(returning: event)
    }

    /// The next event, once there is one; nil after the last.
    func next() async -> Event? {
        await withUnsafeContinuation { continuation in
            let answer = state.withLock { state -> Event?? in
                if let event = state.events.popFirst() { return .some(event) }
                if state.isFinished || state.reader != nil { return .some(nil) }
                state.reader = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// No more events: the reader gets those that wait, and then nil.
    func finish() {
        let reader = state.withLock { state in
            state.isFinished = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: nil)
    }
}

import Locking
@testable import PointsOfInterestClient

/// A clock that stands still: a pause on it ends only where its task is cancelled.
final class StoppedClock: Clock {
    /// Each pause that has begun; for one consumer.
    let pauses: AsyncStream<Void>
    private let begun: AsyncStream<Void>.Continuation

    var now: TestClock.Instant { TestClock.Instant() }
    var minimumResolution: Duration { .nanoseconds(1) }

    init() {
        (pauses, begun) = AsyncStream.makeStream()
    }

    func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
        let (forever, keptOpen) = AsyncStream<Never>.makeStream()
        begun.yield()
        for await _ in forever {}
        keptOpen.finish()
        throw CancellationError()
    }
}

/// A clock on which every pause is over at once, and that tells how long each was to be.
///
/// It can leave time limits alone: a sleep until a given time or later ends only when the time gets there, by shorter
/// pauses or by `advance(by:)`.
final class TestClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration = .zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant()
        var pauses: [Duration] = []
        /// The sleeps that wait for their time; a stream ends at its deadline.
        var limits: [(deadline: Instant, end: AsyncStream<Never>.Continuation)] = []
    }

    private let state = Lock(State())
    private let limit: Duration?
    /// Each sleep until a limit that has ended, or was cancelled; for one consumer.
    let endedLimits: AsyncStream<Void>
    private let ended: AsyncStream<Void>.Continuation

    /// - Parameter limit: from which time on a sleep doesn't end at once, counted from the clock's start.
    init(limit: Duration? = nil) {
        self.limit = limit
        (endedLimits, ended) = AsyncStream.makeStream()
    }

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }
    /// The pauses so far.
    var pauses: [Duration] { state.withLock { $0.pauses } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        guard let limit, deadline.offset >= limit else {
            let pause = now.duration(to: deadline)
            state.withLock { $0.pauses.append(pause) }
            return advance(by: pause)
        }
        defer { ended.yield() }
        let (stream, end) = AsyncStream<Never>.makeStream()
        state.withLock { state in
            if deadline <= state.now { end.finish() } else { state.limits.append((deadline, end)) }
        }
        for await _ in stream {}
        try Task.checkCancellation()
    }

    /// Lets time pass, and ends the sleeps whose time it is.
    func advance(by duration: Duration) {
        state.withLock { state in
            state.now = state.now.advanced(by: duration)
            for limit in state.limits where limit.deadline <= state.now { limit.end.finish() }
            state.limits.removeAll { [now = state.now] in $0.deadline <= now }
        }
    }
}

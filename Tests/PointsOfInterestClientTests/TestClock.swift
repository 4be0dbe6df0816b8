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
final class TestClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration = .zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let state = Lock<(now: Instant, pauses: [Duration])>((Instant(), []))

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }
    /// The pauses so far.
    var pauses: [Duration] { state.withLock { $0.pauses } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        state.withLock { state in
            state.pauses.append(state.now.duration(to: deadline))
            state.now = deadline
        }
    }
}

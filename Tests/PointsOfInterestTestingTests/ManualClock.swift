/// A clock whose time passes when the test says so.
final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration = .zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private actor Sleepers {
        private var waiting: [AsyncStream<Never>.Continuation] = []

        func add() -> AsyncStream<Never> {
            let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
            waiting.append(continuation)
            return stream
        }

        func wake() {
            for continuation in waiting { continuation.finish() }
            waiting = []
        }
    }

    private let sleepers = Sleepers()
    private let (sleeps, begun) = AsyncStream.makeStream(of: Duration.self)
    private let (cancellations, cancelled) = AsyncStream.makeStream(of: Void.self)

    var now: Instant { Instant() }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let stream = await sleepers.add()
        begun.yield(deadline.offset)
        for await _ in stream {}
        guard Task.isCancelled else { return }
        cancelled.yield()
        throw CancellationError()
    }

    /// Waits until somebody sleeps, and returns for how long; for one reader.
    func nextSleep() async -> Duration? {
        for await duration in sleeps { return duration }
        return nil
    }

    /// Waits until a sleep is cancelled; for one reader.
    func nextCancellation() async {
        for await _ in cancellations { return }
    }

    /// Ends all sleeps that have begun.
    func pass() async { await sleepers.wake() }

    /// Waits until somebody sleeps, and ends that.
    func passNextSleep() async {
        _ = await nextSleep()
        await pass()
    }
}

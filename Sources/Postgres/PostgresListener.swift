import EventLoop

/// Listens on channels over a session of its own, which is made anew whenever it ends.
///
/// Confined to its loop; ``events`` may be read anywhere. ``close()`` must be awaited before the loop stops.
public final class PostgresListener {
    /// What a listener tells.
    public enum Event: Sendable, Hashable {
        /// Notifications may have been missed up to here: told when listening begins, when it begins again
        /// after a lost connection, and when the reader was too slow. Read afresh what they stand for.
        case gap
        /// Somebody notified.
        case notification(PostgresNotification)
    }

    /// The loop that the listener belongs to.
    public let loop: EventLoop
    /// What happens on the channels, in order; ends with ``close()``. For one reader, whose cancelling ends it.
    public let events: AsyncStream<Event>

    /// Called on the loop, at once, when the session in which listening had begun has ended.
    public var onLost: (() -> Void)?

    private let configuration: PostgresConfiguration
    private let channels: [String]
    private let threads = PostgresThreads()
    private let buffer: ListenerEventBuffer

    private var connection: PostgresConnection?
    private var failures = 0
    private var isClosing = false
    private var hasEnded = false
    private var closeWaiters: [UnsafeContinuation<Void, Never>] = []
    private var timer: LoopTimer?
    private var wakeUp: UnsafeContinuation<Void, Never>?

    /// After which time without a sign of life the session is asked for one.
    private static let healthCheckInterval = Duration.seconds(30)
    /// Events kept for a slow reader; what exceeds them becomes a gap.
    private static let bufferSize = 1024

    /// Starts listening. To be called on the loop's thread.
    ///
    /// - Parameter channels: names as they are, not folded to lower case.
    public init(_ configuration: PostgresConfiguration, channels: [String], loop: EventLoop) {
        loop.preconditionInEventLoop()
        self.configuration = configuration
        self.channels = channels
        self.loop = loop
        let buffer = ListenerEventBuffer(capacity: Self.bufferSize)
        self.buffer = buffer
        events = AsyncStream {
            await buffer.next()
        } onCancel: {
            buffer.finish()
        }
        timer = LoopTimer(loop: loop) { [weak self] in self?.timerFired() }
        let bound = LoopBound(self, loop: loop)
        Task(executorPreference: loop) { await bound.value.run() }
    }

    /// Ends listening and the stream of events; returns when the socket is closed.
    public func close() async {
        loop.preconditionInEventLoop()
        isClosing = true
        wake()
        guard !hasEnded else { return }
        await withUnsafeContinuation { closeWaiters.append($0) }
    }

    private func run() async {
        while !isClosing {
            await listenOnce()
            if isClosing { break }
            failures += 1
            timer?.start(after: ReconnectBackoff.delay(failures: failures, random: .random(in: 0...1)))
            await sleep()
        }
        timer?.close()
        buffer.finish()
        hasEnded = true
        for waiter in closeWaiters { waiter.resume() }
        closeWaiters = []
    }

    /// Connects and listens until the session ends.
    private func listenOnce() async {
        guard
            let connection = try? await PostgresConnection.connect(
                configuration, loop: loop, threads: threads)
        else { return }
        self.connection = connection
        connection.onNotification = { [weak self] in self?.buffer.append(.notification($0)) }
        connection.onEnd = { [weak self] _ in self?.wake() }
        do {
            for channel in channels {
                _ = try await connection.query(
                    PostgresQuery("LISTEN " + SQL(identifier: channel)), timeout: configuration.overrunGrace)
            }
            failures = 0
            buffer.append(.gap)
            timer?.start(after: Self.healthCheckInterval, repeating: Self.healthCheckInterval)
            while connection.isOpen && !isClosing { await sleep() }
            onLost?()
        } catch {
            // Another attempt follows; what is wrong for good shows in the pool, which has the same settings.
        }
        timer?.stop()
        self.connection = nil
        await connection.close()
    }

    private func timerFired() {
        guard let connection else { return wake() }
        // Its deadline ends a session that doesn't answer: nobody has to wait for it.
        connection.submit(PendingQuery(.unnamed("SELECT 1"), [], timeout: configuration.overrunGrace))
    }

    private func sleep() async {
        guard !isClosing else { return }
        await withUnsafeContinuation { wakeUp = $0 }
    }

    private func wake() {
        wakeUp?.resume()
        wakeUp = nil
    }
}

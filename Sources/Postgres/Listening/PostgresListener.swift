import CLibPQ
import EventLoop
import Locking

/// Listens on channels over a session of its own, and makes a new session whenever that ends.
///
/// Confined to its loop; ``events`` may be read anywhere. ``close()`` must be awaited before the loop stops.
package final class PostgresListener {
    package enum Event: Sendable, Hashable {
        /// Notifications may have been missed up to here: when listening begins, when it begins again after a lost
        /// connection, and when the reader was too slow. The reader has to look at what the notifications are about.
        case gap
        case notification(PostgresNotification)
    }

    /// The loop that the listener belongs to.
    package let loop: EventLoop
    /// What happens on the channels, in order; ends with ``close()``. For one reader, whose cancellation ends it.
    package let events: AsyncStream<Event>

    /// Called on the loop, at once, when the session in which listening had begun has ended.
    package var onLost: (() -> Void)?

    private let configuration: PostgresConfiguration
    private let channels: [String]
    private let threads = PostgresThreads()
    private let buffer: ListenerEventBuffer

    private var connection: PostgresConnection?
    private var failures = 0
    private var isClosing = false
    private let ended = OneTimeEvent()
    private var timer: LoopTimer?
    private let wakeUp = WakeUp()

    /// How often the session is checked, since nothing else is sent over it.
    private static let healthCheckInterval = Duration.seconds(30)
    /// Events kept for a slow reader; if there are more, they become one gap.
    private static let bufferSize = 1024

    /// Starts listening. To be called on the loop's thread.
    ///
    /// - Parameter channels: names as they are, not folded to lower case.
    package init(_ configuration: PostgresConfiguration, channels: [String], loop: EventLoop) {
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
    package func close() async {
        loop.preconditionInEventLoop()
        isClosing = true
        wakeUp.wake()
        await ended.wait()
    }

    private func run() async {
        while !isClosing {
            await listenOnce()
            if isClosing { break }
            failures += 1
            timer?.start(after: ReconnectBackoff.delay(failures: failures, random: .random(in: 0...1)))
            await sleepUnlessClosing()
        }
        timer?.close()
        buffer.finish()
        ended.happen()
    }

    /// Connects and listens until the session ends.
    private func listenOnce() async {
        guard
            let connection = try? await PostgresConnection.connect(
                configuration, loop: loop, threads: threads)
        else { return }
        self.connection = connection
        connection.onNotification = { [weak self] in self?.buffer.append(.notification($0)) }
        connection.onEnd = { [weak self] _ in self?.wakeUp.wake() }
        do {
            for channel in channels {
                _ = try await connection.query(
                    PostgresQuery("LISTEN " + SQL(identifier: channel)), timeout: configuration.overrunGrace)
            }
            failures = 0
            buffer.append(.gap)
            timer?.start(after: Self.healthCheckInterval, repeating: Self.healthCheckInterval)
            while connection.isOpen && !isClosing { await sleepUnlessClosing() }
            onLost?()
        } catch {
            // Another attempt follows. A lasting fault shows in the pool, which has the same settings.
        }
        timer?.stop()
        self.connection = nil
        await connection.close()
    }

    private func timerFired() {
        guard let connection else { return wakeUp.wake() }
        // Its deadline ends a session that doesn't respond: nobody has to wait for it.
        connection.submit(PendingQuery(.unnamed("SELECT 1"), [], timeout: configuration.overrunGrace))
    }

    private func sleepUnlessClosing() async {
        if !isClosing { await wakeUp.sleep() }
    }
}

/// What a `NOTIFY` sent.
package struct PostgresNotification: Sendable, Hashable {
    /// The channel's name.
    package let channel: String
    /// The text that came with it, often empty.
    package let payload: String

    init(_ raw: UnsafePointer<PGnotify>) {
        channel = String(cString: raw.pointee.relname)
        payload = String(cString: raw.pointee.extra)
    }
}

extension PostgresNotification {
    /// A notification by its parts, for tests.
    init(channel: String, payload: String) {
        self.channel = channel
        self.payload = payload
    }
}

/// A listener's events on their way to the reader: bounded, and with a gap in place of what it drops.
///
/// Usable from any thread; for one reader at a time. If the reader is too slow, all waiting events become one gap:
/// after a gap the reader looks at the data themselves, so it doesn't need older notifications.
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
            let event = state.withLock { state -> Event?? in
                if let event = state.events.popFirst() { return .some(event) }
                if state.isFinished || state.reader != nil { return .some(nil) }
                state.reader = continuation
                return nil
            }
            if let event { continuation.resume(returning: event) }
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

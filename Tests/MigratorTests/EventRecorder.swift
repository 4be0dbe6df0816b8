import Locking
import EventLoop
import Migrator

/// Collects a run's events, and wakes whoever waits for one.
final class EventRecorder: Sendable {
    private let (stream, continuation) = AsyncStream.makeStream(of: MigrationEvent.self)
    private let recorded = Lock<[MigrationEvent]>([])

    var events: [MigrationEvent] { recorded.withLock { $0 } }

    func record(_ event: MigrationEvent) {
        recorded.withLock { $0.append(event) }
        continuation.yield(event)
    }

    /// Waits until something for which `matches` is true has happened. For one waiter at a time.
    func wait(until matches: (MigrationEvent) -> Bool) async {
        for await event in stream where matches(event) { return }
    }
}

import Locking
import EventLoop
import POIService
import Postgres

/// The care for the partitions of the months to come, which one loop of a process takes on.
public final class EventPartitionCare: Sendable {
    private let observability: Observability
    private let isClaimed = Lock(false)

    /// - Parameter observability: hears of partitions that were made, or that couldn't be.
    public init(observability: Observability) {
        self.observability = observability
    }

    /// Starts it where nobody has; nil for all others.
    func claim(_ configuration: PostgresConfiguration, loop: EventLoop) -> EventPartitionKeeper? {
        let isFirst = isClaimed.withLock { isClaimed in
            defer { isClaimed = true }
            return !isClaimed
        }
        guard isFirst else { return nil }
        return EventPartitionKeeper(configuration, loop: loop, observability: observability)
    }
}

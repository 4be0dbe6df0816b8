/// Decides which batches are written together: those that wait while others are being written.
///
/// A value: it takes batches and the ends of writes, and says what to write next. A write takes about as long as its
/// commit, so the more batches wait, the more share one commit. A batch that is alone is written at once.
struct GroupCommit<Batch> {
    /// How much may be under way at once.
    struct Limits: Hashable {
        /// Writes at once.
        var writers: Int
        /// Events in one write; a batch that is larger goes alone.
        var eventsPerWrite: Int
        /// Events that wait.
        var waitingEvents: Int
    }

    private let limits: Limits
    private var waiting: [(batch: Batch, eventCount: Int)] = []
    private var waitingEventCount = 0
    private var writing = 0

    init(limits: Limits) {
        self.limits = limits
    }

    /// Adds a batch; false where too many events wait.
    mutating func add(_ batch: Batch, eventCount: Int) -> Bool {
        guard waiting.isEmpty || waitingEventCount + eventCount <= limits.waitingEvents else { return false }
        waiting.append((batch, eventCount))
        waitingEventCount += eventCount
        return true
    }

    /// What is to be written now, in the order in which it came; nil while nothing waits, or all writers work.
    /// `finished` has to follow.
    mutating func next() -> [Batch]? {
        guard writing < limits.writers, !waiting.isEmpty else { return nil }
        writing += 1
        var count = 0
        var eventCount = 0
        for item in waiting {
            guard count == 0 || eventCount + item.eventCount <= limits.eventsPerWrite else { break }
            count += 1
            eventCount += item.eventCount
        }
        defer {
            waiting.removeFirst(count)
            waitingEventCount -= eventCount
        }
        return waiting.prefix(count).map(\.batch)
    }

    /// A write is over.
    mutating func finished() {
        writing -= 1
    }
}

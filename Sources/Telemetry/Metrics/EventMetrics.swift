/// Counts the app's events of the process.
struct EventMetrics: Sendable {
    private var acceptedCount = 0
    private var duplicateCount = 0
    private var unknownNameCount = 0
    private var refusedBatchCount = 0

    static let all = [accepted, duplicates, unknownNames, refused]

    private static let accepted = MetricDefinition(
        "poi_events_accepted_total", .counter, "New events, counted after their commit.")
    private static let duplicates = MetricDefinition(
        "poi_events_duplicate_total", .counter, "Events that had been stored before.")
    private static let unknownNames = MetricDefinition(
        "poi_events_unknown_name_total", .counter, "Events whose name has no definition, from a newer app.")
    private static let refused = MetricDefinition(
        "poi_events_batches_refused_total", .counter, "Batches of events that were refused for their faults.")

    /// Counts a batch that was stored.
    mutating func add(_ batch: EventCounts) {
        acceptedCount += batch.accepted
        duplicateCount += batch.duplicates
        unknownNameCount += batch.unknownNames
    }

    /// Counts a batch that was refused.
    mutating func addRefusal() {
        refusedBatchCount += 1
    }

    /// Adds the counts since the start.
    func collect(into snapshot: inout MetricsSnapshot) {
        snapshot.add(acceptedCount, to: Self.accepted)
        snapshot.add(duplicateCount, to: Self.duplicates)
        snapshot.add(unknownNameCount, to: Self.unknownNames)
        snapshot.add(refusedBatchCount, to: Self.refused)
    }
}

/// What became of the app's events since the process began.
struct EventMetrics: Sendable {
    private var counts = EventCounts(accepted: 0, duplicates: 0, unknownNames: 0)
    private var refusedBatches = 0

    static let all = [accepted, duplicates, unknownNames, refused]

    private static let accepted = MetricDefinition(
        "poi_events_accepted_total", .counter, "Events that were new, counted after their commit.")
    private static let duplicates = MetricDefinition(
        "poi_events_duplicate_total", .counter, "Events that were there before.")
    private static let unknownNames = MetricDefinition(
        "poi_events_unknown_name_total", .counter, "Events of names that no definition has: a newer app's.")
    private static let refused = MetricDefinition(
        "poi_events_batches_refused_total", .counter, "Batches of events that were refused for their faults.")

    /// Counts a batch that was stored.
    mutating func add(_ batch: EventCounts) {
        counts = EventCounts(
            accepted: counts.accepted + batch.accepted, duplicates: counts.duplicates + batch.duplicates,
            unknownNames: counts.unknownNames + batch.unknownNames)
    }

    /// Counts a batch that was refused.
    mutating func addRefusal() {
        refusedBatches += 1
    }

    /// Adds what was counted.
    func collect(into snapshot: inout MetricsSnapshot) {
        snapshot.add(counts.accepted, to: Self.accepted)
        snapshot.add(counts.duplicates, to: Self.duplicates)
        snapshot.add(counts.unknownNames, to: Self.unknownNames)
        snapshot.add(refusedBatches, to: Self.refused)
    }
}

import Telemetry

/// How far loading has come. Reports it to the log every few seconds.
struct IndexLoadProgress {
    private let start: Duration
    private var reportedAt: Duration
    private var changedAt: Duration
    private var (placeCount, bytes) = (0, 0)

    private static let interval = Duration.seconds(5)
    /// After this long without a row, the server counts as silent.
    private static let patience = Duration.seconds(60)

    /// Begins, at a time by the loop's clock.
    init(start: Duration) {
        self.start = start
        reportedAt = start
        changedAt = start
    }

    /// Notes that more was read.
    mutating func update(_ placeCount: Int, _ bytes: Int, at now: Duration) {
        (self.placeCount, self.bytes) = (placeCount, bytes)
        changedAt = now
    }

    /// Reports the progress if that is due. To be called again and again.
    mutating func tick(at now: Duration, _ record: (Observation) -> Void) {
        guard now - reportedAt >= Self.interval else { return }
        reportedAt = now
        record(.index(.loading(places: placeCount, bytes: bytes, duration: now - start)))
    }

    /// Whether nothing has come for a long time.
    func isStuck(at now: Duration) -> Bool { now - changedAt > Self.patience }
}

/// Decides which ids are verified next, and knows since when all are verified. A value that is passed the time.
///
/// A round begins at any id, goes up to the last id, and on from the first one. So the servers of a fleet verify different
/// ids at a time.
struct VerificationRounds {
    /// Where the next range begins.
    private(set) var next: Int64
    /// Every place in memory was read or compared at this time or later.
    private(set) var verifiedAt: Duration
    private var start: Int64
    private var isPastEnd = false
    private var beganAt: Duration?
    private var rangeAt: Duration

    /// Begins after all places were read, by a look that began at `time`.
    ///
    /// - Parameter start: where the first round begins; any id will do.
    init(loadedAt time: Duration, start: Int64) {
        (next, self.start) = (start, start)
        (verifiedAt, rangeAt) = (time, time)
    }

    /// Whether it is time for the next range.
    func isDue(at time: Duration, interval: Duration) -> Bool { time - rangeAt >= interval }

    /// Notes that the places from `next` on were compared.
    ///
    /// - Parameters:
    ///   - last: the last id of the range.
    ///   - time: when the look began whose snapshot they were compared with.
    mutating func verified(through last: Int64, at time: Duration) {
        rangeAt = time
        let began = beganAt ?? time
        beganAt = began
        let isEnd = last == .max
        next = isEnd ? .min : last + 1
        let isComplete = isPastEnd ? isEnd || next >= start : isEnd && start == .min
        isPastEnd = isPastEnd || isEnd
        guard isComplete else { return }
        (verifiedAt, beganAt) = (began, nil)
        (start, isPastEnd) = (next, false)
    }
}

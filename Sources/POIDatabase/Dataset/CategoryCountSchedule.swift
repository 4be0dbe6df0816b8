import POIService

/// Decides when the places of each category are counted. A value: it is told the time.
///
/// One count at a time. Counts of the current dataset are served as long as it is current. Where it isn't, the last
/// counts go on being served until they are `multiple` times as old as counting took; then a new count begins, and they
/// are served meanwhile, until they are twice that old. So however often the data change, counting takes at most about
/// one `multiple`th of the time, and no counts are served that are older than twice `multiple` times what it took.
struct CategoryCountSchedule {
    /// What a request gets.
    enum Answer: Hashable {
        /// These counts; and it begins a new count, which `finished` has to follow, where that is so.
        case counts(CategoryCounts, beginsCount: Bool)
        /// The counts of the count under way, which it begins itself where that is so.
        case wait(beginsCount: Bool)
    }

    private let multiple: Int
    private var last: (counts: CategoryCounts, begun: ContinuousClock.Instant, took: Duration)?
    private var begun: ContinuousClock.Instant?

    init(multiple: Int = 10) {
        self.multiple = multiple
    }

    /// Whether a count is under way.
    var isCounting: Bool { begun != nil }

    /// A request asks, while this dataset is the current one; nil where that isn't known.
    mutating func request(current: DatasetID?, at now: ContinuousClock.Instant) -> Answer {
        guard let last else { return .wait(beginsCount: begin(at: now)) }
        if let current, last.counts.datasetID == current { return .counts(last.counts, beginsCount: false) }
        // The rows are at least as new as the beginning.
        let age = now - last.begun
        if age < last.took * multiple { return .counts(last.counts, beginsCount: false) }
        let beginsCount = begin(at: now)
        return age < last.took * (2 * multiple)
            ? .counts(last.counts, beginsCount: beginsCount) : .wait(beginsCount: beginsCount)
    }

    /// The count under way has ended; nil where it has failed, and the next request that needs one begins another.
    mutating func finished(_ counts: CategoryCounts?, at now: ContinuousClock.Instant) {
        if let counts, let begun { last = (counts, begun, now - begun) }
        begun = nil
    }

    private mutating func begin(at now: ContinuousClock.Instant) -> Bool {
        guard begun == nil else { return false }
        begun = now
        return true
    }
}

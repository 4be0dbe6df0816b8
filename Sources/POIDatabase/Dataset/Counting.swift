import EventLoop
import Locking
import Places

/// Counts of all places, such as those of each category, made by one loop of a process and served by all.
///
/// Any thread.
final class SharedCounts<Item: DatasetCount>: Sendable {
    typealias Outcome = Result<DatasetCounts<Item>, PlaceStoreError>

    private struct State {
        var schedule: CountSchedule<Item>
        var waiters: [Int: CheckedContinuation<Outcome, Never>] = [:]
        var waiterCount = 0
        var countsBegun = 0
    }

    private let state: Lock<State>

    init(schedule: CountSchedule<Item>) {
        state = Lock(State(schedule: schedule))
    }

    /// How many counts have begun so far; tests wait for it.
    var countsBegun: Int { state.withLock { $0.countsBegun } }

    /// How many requests wait for a count; tests wait for it.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Returns counts that may be served now, and whether the caller had to wait for them.
    ///
    /// - Parameters:
    ///   - current: the current dataset; nil where it isn't known.
    ///   - beginCount: starts a count that ends by `finish`, without waiting for it.
    /// - Throws: the error of the count that was waited for: `cancelled` where the store that counted was closed. Also
    ///   `cancelled`, at once, where the task is cancelled, which doesn't cancel the count.
    func counts(
        of current: DatasetID?, beginCount: () -> Void
    ) async throws(PlaceStoreError) -> (counts: DatasetCounts<Item>, areAwaited: Bool) {
        let number = state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
        var areAwaited = false
        let start = MonotonicClock.nanoseconds()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                areAwaited = request(current, number, continuation, beginCount)
            }
        } onCancel: {
            // A request that doesn't wait yet notices the cancellation by itself.
            let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
            waiter?.resume(returning: .failure(.cancelled))
        }
        if areAwaited {
            TaskWaits.current?.value
                .addQuery(nanoseconds: MonotonicClock.nanoseconds() - start, server: nil)
        }
        return (try outcome.get(), areAwaited)
    }

    /// Resumes the continuation with counts that may be served, or lets it wait; returns whether it waits. The continuation
    /// is stored before the count begins, because the count may fail at once.
    private func request(
        _ current: DatasetID?, _ number: Int, _ continuation: CheckedContinuation<Outcome, Never>,
        _ beginCount: () -> Void
    ) -> Bool {
        let decision: CountSchedule<Item>.Decision? = state.withLock { state in
            guard !Task.isCancelled else { return nil }
            let decision = state.schedule.request(current: current, at: .now)
            if case .wait = decision { state.waiters[number] = continuation }
            if decision.beginsCount { state.countsBegun += 1 }
            return decision
        }
        if decision?.beginsCount == true { beginCount() }
        switch decision {
        case .counts(let counts, _)?: continuation.resume(returning: .success(counts))
        case .wait?: return true
        case nil: continuation.resume(returning: .failure(.cancelled))
        }
        return false
    }

    /// Drops the last counts, so that the next request waits for new ones.
    func forget() {
        state.withLock { $0.schedule.forget() }
    }

    /// Ends the count that is under way, and passes its outcome to the requests that wait.
    func finish(_ outcome: Outcome) {
        let waiters = state.withLock { state in
            state.schedule.finished(try? outcome.get(), at: .now)
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }
}

/// Decides when places are counted. A value that is passed the time.
///
/// Only one count runs at a time. Counts of the current dataset are served as long as it is current. After that, the last
/// counts are still served until they are `multiple` times as old as counting took. Then a new count begins, and they are
/// served meanwhile until they are twice that old. So however often the data change, counting takes at most about one
/// `multiple`th of the time, and no counts are served that are older than twice `multiple` times the time that counting took.
struct CountSchedule<Item: DatasetCount> {
    /// What a request does.
    enum Decision: Hashable {
        /// It gets these counts.
        case counts(DatasetCounts<Item>, beginsCount: Bool)
        /// It waits for the count under way.
        case wait(beginsCount: Bool)

        /// Whether the caller has to begin a count, and to report its end by `finished`.
        var beginsCount: Bool {
            switch self {
            case .counts(_, let beginsCount), .wait(let beginsCount): beginsCount
            }
        }
    }

    private let multiple: Int
    private var last: (counts: DatasetCounts<Item>, begun: ContinuousClock.Instant, took: Duration)?
    private var begun: ContinuousClock.Instant?

    init(multiple: Int) {
        self.multiple = multiple
    }

    /// Decides about a request, while `current` is the current dataset; nil where that isn't known.
    mutating func request(current: DatasetID?, at now: ContinuousClock.Instant) -> Decision {
        guard let last else { return .wait(beginsCount: begin(at: now)) }
        if let current, last.counts.datasetID == current { return .counts(last.counts, beginsCount: false) }
        // The counted rows are at least as new as the time at which counting began.
        let age = now - last.begun
        if age < last.took * multiple { return .counts(last.counts, beginsCount: false) }
        let beginsCount = begin(at: now)
        return age < last.took * (2 * multiple)
            ? .counts(last.counts, beginsCount: beginsCount) : .wait(beginsCount: beginsCount)
    }

    /// The count under way has ended; nil where it has failed: then the next request that needs one begins another.
    mutating func finished(_ counts: DatasetCounts<Item>?, at now: ContinuousClock.Instant) {
        if let counts, let begun { last = (counts, begun, now - begun) }
        begun = nil
    }

    /// The last counts aren't served any more.
    mutating func forget() {
        last = nil
    }

    private mutating func begin(at now: ContinuousClock.Instant) -> Bool {
        guard begun == nil else { return false }
        begun = now
        return true
    }
}

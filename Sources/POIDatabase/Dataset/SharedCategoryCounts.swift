import Locking
import EventLoop
import POIService

/// The numbers of places of each category, for all loops of a process: what one of them counts, all serve.
///
/// Any thread.
final class SharedCategoryCounts: Sendable {
    typealias Outcome = Result<CategoryCounts, PlaceStoreError>

    private struct State {
        var schedule: CategoryCountSchedule
        var waiters: [Int: CheckedContinuation<Outcome, Never>] = [:]
        var waiterCount = 0
        var countsBegun = 0
    }

    private let state: Lock<State>

    init(schedule: CategoryCountSchedule = CategoryCountSchedule()) {
        state = Lock(State(schedule: schedule))
    }

    /// How many counts have begun so far.
    var countsBegun: Int { state.withLock { $0.countsBegun } }

    /// How many requests wait for a count.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Counts that may be served now, and whether they had to be waited for.
    ///
    /// - Parameters:
    ///   - current: the current dataset; nil where it isn't known.
    ///   - beginCount: starts a count that ends by `finish`, without waiting for it.
    /// - Throws: the error of the count that was waited for: `cancelled` where the store that counted was closed. The
    ///   same, at once, where the task is cancelled, which doesn't cancel the count.
    func counts(
        of current: DatasetID?, beginCount: () -> Void
    ) async throws(PlaceStoreError) -> (counts: CategoryCounts, areAwaited: Bool) {
        let number = state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
        var areAwaited = false
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                areAwaited = ask(current, number, continuation, beginCount)
            }
        } onCancel: {
            // Before it waits there is nothing to remove, and it notices by itself.
            let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
            waiter?.resume(returning: .failure(.cancelled))
        }
        return (try outcome.get(), areAwaited)
    }

    /// Resumes with what is known, or waits; whether it waits. It does so before a count begins, which may fail at once.
    private func ask(
        _ current: DatasetID?, _ number: Int, _ continuation: CheckedContinuation<Outcome, Never>,
        _ beginCount: () -> Void
    ) -> Bool {
        let answer: CategoryCountSchedule.Answer? = state.withLock { state in
            guard !Task.isCancelled else { return nil }
            let answer = state.schedule.request(current: current, at: .now)
            if case .wait = answer { state.waiters[number] = continuation }
            if answer.beginsCount { state.countsBegun += 1 }
            return answer
        }
        if answer?.beginsCount == true { beginCount() }
        switch answer {
        case .counts(let counts, _)?: continuation.resume(returning: .success(counts))
        case .wait?: return true
        case nil: continuation.resume(returning: .failure(.cancelled))
        }
        return false
    }

    /// The count under way has ended.
    func finish(_ outcome: Outcome) {
        let waiters = state.withLock { state in
            state.schedule.finished(try? outcome.get(), at: .now)
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }
}

extension CategoryCountSchedule.Answer {
    /// Whether the request is to begin a count.
    fileprivate var beginsCount: Bool {
        switch self {
        case .counts(_, let beginsCount), .wait(let beginsCount): beginsCount
        }
    }
}

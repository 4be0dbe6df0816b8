/// Who gets which connection, and when a lost one is made anew, for the connections of one lane.
///
/// A value: it takes events and the time, and answers actions. `Waiter` is whatever waits for a place.
struct PoolStateMachine<Waiter> {
    /// The lane's size.
    struct Limits: Hashable {
        /// How many connections are kept.
        var connections: Int
        /// How many queries may be in flight on one.
        var depth: Int
        /// How many may wait for a place.
        var waiters: Int
        /// How long one may wait.
        var acquireTimeout: Duration
    }

    /// What the lane has to do.
    enum Action {
        /// Connect now.
        case connect(slot: Int)
        /// Connect after a while.
        case connectLater(slot: Int, after: Duration)
        /// Give the slot's connection to that waiter.
        case dispatch(Waiter, slot: Int)
        /// Tell the waiter that it gets none.
        case refuse(Waiter, PostgresError.Code)
        /// See whether the slot's connection still answers.
        case check(slot: Int)
        /// Close the slot's connection.
        case close(slot: Int)
    }

    private enum Slot {
        case connecting(failures: Int)
        case backingOff(failures: Int)
        case ready(inFlight: Int, since: Duration, lastUsed: Duration, failures: Int)
        case closed
    }

    private struct Waiting {
        let waiter: Waiter
        let deadline: Duration
    }

    private let limits: Limits
    private var slots: [Slot]
    private var waiting = FirstInFirstOut<Waiting>()
    private var isClosing = false
    private var counts = PoolStatistics.Lane()

    /// A connection that is lost sooner than this after it was made counts as a failed attempt.
    private static var shortestLife: Duration { .seconds(1) }

    init(limits: Limits) {
        self.limits = limits
        slots = Array(repeating: .connecting(failures: 0), count: max(0, limits.connections))
    }

    /// When the first waiter's time is up.
    var nextDeadline: Duration? { waiting.first?.deadline }

    /// Whether every connection is closed, after `close()`.
    var isClosed: Bool {
        slots.allSatisfy { if case .closed = $0 { true } else { false } }
    }

    // MARK: Waiters

    /// Somebody wants a place.
    mutating func acquire(_ waiter: Waiter, now: Duration) -> Action? {
        if isClosing { return .refuse(waiter, .closed) }
        if let slot = leastBusySlot() {
            take(slot, now: now)
            return .dispatch(waiter, slot: slot)
        }
        guard waiting.count < limits.waiters else {
            counts.refusedAcquires += 1
            return .refuse(waiter, refusal)
        }
        waiting.append(Waiting(waiter: waiter, deadline: now + limits.acquireTimeout))
        return nil
    }

    /// Somebody no longer wants a place; answers the waiter if it was still waiting.
    mutating func withdraw(where isMeant: (Waiter) -> Bool) -> Waiter? {
        waiting.removeAll { isMeant($0.waiter) }.first?.waiter
    }

    /// A query took longer than it may.
    mutating func queryTimedOut() {
        counts.timedOutQueries += 1
    }

    /// The time has come to look for waiters whose deadline has passed.
    mutating func expireWaiters(now: Duration) -> [Action] {
        var actions: [Action] = []
        while let first = waiting.first, first.deadline <= now {
            _ = waiting.popFirst()
            counts.timedOutAcquires += 1
            actions.append(.refuse(first.waiter, refusal))
        }
        return actions
    }

    /// A query or a lease on the slot's connection is over.
    mutating func release(slot: Int, now: Duration) -> [Action] {
        guard case .ready(let inFlight, let since, _, let failures) = slots[slot] else { return [] }
        slots[slot] = .ready(
            inFlight: max(0, inFlight - 1), since: since, lastUsed: now, failures: failures)
        return settle(slot, now: now)
    }

    // MARK: Connections

    /// The first attempts, one a slot.
    func start() -> [Action] {
        slots.indices.map { .connect(slot: $0) }
    }

    /// The slot's wait before the next attempt is over.
    mutating func backoffEnded(slot: Int) -> Action? {
        guard case .backingOff(let failures) = slots[slot] else { return nil }
        slots[slot] = .connecting(failures: failures)
        return .connect(slot: slot)
    }

    /// The slot's attempt has succeeded.
    mutating func connected(slot: Int, now: Duration) -> [Action] {
        guard case .connecting(let failures) = slots[slot] else { return [] }
        slots[slot] = .ready(inFlight: 0, since: now, lastUsed: now, failures: failures)
        return settle(slot, now: now)
    }

    /// The slot's attempt has failed.
    mutating func connectFailed(slot: Int, random: Double) -> Action? {
        guard case .connecting(let failures) = slots[slot] else { return nil }
        counts.failedConnects += 1
        return reconnect(slot, failures: failures + 1, random: random)
    }

    /// The slot's connection has ended by itself, and with it what was in flight there.
    mutating func lost(slot: Int, now: Duration, random: Double) -> Action? {
        guard case .ready(_, let since, _, let failures) = slots[slot] else { return nil }
        counts.lostConnections += 1
        let wasShort = now - since < Self.shortestLife
        return reconnect(slot, failures: wasShort ? failures + 1 : 0, random: random)
    }

    /// The time has come to check the connections that nobody has used for that long.
    mutating func checkIdle(since threshold: Duration, now: Duration) -> [Action] {
        var actions: [Action] = []
        for slot in slots.indices {
            if case .ready(0, _, let lastUsed, _) = slots[slot], lastUsed <= threshold {
                take(slot, now: now)
                actions.append(.check(slot: slot))
            }
        }
        return actions
    }

    // MARK: The end

    /// No more places; connections close as soon as they are idle.
    mutating func close() -> [Action] {
        guard !isClosing else { return [] }
        isClosing = true
        var actions: [Action] = []
        while let first = waiting.popFirst() { actions.append(.refuse(first.waiter, .closed)) }
        for slot in slots.indices {
            switch slots[slot] {
            case .ready(inFlight: 0, _, _, _):
                slots[slot] = .closed
                actions.append(.close(slot: slot))
            case .backingOff:
                slots[slot] = .closed
            case .connecting, .ready, .closed:
                break
            }
        }
        return actions
    }

    /// The waiting has been long enough: connections close with what is in flight on them.
    mutating func closeNow() -> [Action] {
        var actions = close()
        for slot in slots.indices {
            guard case .ready = slots[slot] else { continue }
            slots[slot] = .closed
            actions.append(.close(slot: slot))
        }
        return actions
    }

    // MARK: Numbers

    /// The lane in numbers.
    var statistics: PoolStatistics.Lane {
        var statistics = counts
        statistics.waiting = waiting.count
        for slot in slots {
            switch slot {
            case .ready(let inFlight, _, _, _):
                statistics.connections += 1
                statistics.inFlight += inFlight
                if inFlight > 0 { statistics.busyConnections += 1 }
            case .connecting, .backingOff:
                statistics.missingConnections += 1
            case .closed:
                break
            }
        }
        return statistics
    }

    // MARK: Inside

    private var refusal: PostgresError.Code {
        let hasConnection = slots.contains { if case .ready = $0 { true } else { false } }
        return hasConnection ? .busy : .unavailable
    }

    private func leastBusySlot() -> Int? {
        var best: (slot: Int, inFlight: Int)?
        for (index, slot) in slots.enumerated() {
            guard case .ready(let inFlight, _, _, _) = slot, inFlight < limits.depth else { continue }
            if best.map({ inFlight < $0.inFlight }) ?? true { best = (index, inFlight) }
        }
        return best?.slot
    }

    private mutating func take(_ slot: Int, now: Duration) {
        guard case .ready(let inFlight, let since, _, let failures) = slots[slot] else { return }
        slots[slot] = .ready(inFlight: inFlight + 1, since: since, lastUsed: now, failures: failures)
    }

    /// Fills a slot's free places with those who wait, or closes it at the end.
    private mutating func settle(_ slot: Int, now: Duration) -> [Action] {
        var actions: [Action] = []
        while case .ready(let inFlight, _, _, _) = slots[slot], inFlight < limits.depth,
            let first = waiting.popFirst()
        {
            take(slot, now: now)
            actions.append(.dispatch(first.waiter, slot: slot))
        }
        if isClosing, case .ready(inFlight: 0, _, _, _) = slots[slot] {
            slots[slot] = .closed
            actions.append(.close(slot: slot))
        }
        return actions
    }

    private mutating func reconnect(_ slot: Int, failures: Int, random: Double) -> Action? {
        guard !isClosing else {
            slots[slot] = .closed
            return nil
        }
        guard failures > 0 else {
            slots[slot] = .connecting(failures: 0)
            return .connect(slot: slot)
        }
        slots[slot] = .backingOff(failures: failures)
        return .connectLater(
            slot: slot, after: ReconnectBackoff.delay(failures: failures, random: random))
    }
}

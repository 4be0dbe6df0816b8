/// Decides who gets which connection of a pool, and when a lost one is made anew.
///
/// A value: it takes events and the time, and returns actions. `Waiter` is whatever waits for a connection.
struct PoolStateMachine<Waiter> {
    /// The pool's size.
    struct Limits: Hashable {
        var connections: Int
        /// How many may wait for a connection.
        var waiters: Int
        /// How long one may wait.
        var acquireTimeout: Duration
    }

    /// What the pool has to do.
    enum Action {
        case connect(slot: Int)
        case connectLater(slot: Int, after: Duration)
        case dispatch(Waiter, slot: Int)
        case refuse(Waiter, PostgresError.Code)
        case check(slot: Int)
        case close(slot: Int)
    }

    private enum Slot {
        case connecting(failures: Int)
        case backingOff(failures: Int)
        case ready(Healthy)
        case closed

        /// The connection that is there, if one is.
        var healthy: Healthy? {
            if case .ready(let healthy) = self { healthy } else { nil }
        }
    }

    private struct Healthy {
        var isBusy = false
        let since: Duration
        var lastUsed: Duration
        let failures: Int
        /// Takes nothing before it has responded once more, because another connection was lost meanwhile.
        var isSuspect = false

        /// Whether it may be given a query.
        var isFree: Bool { !isSuspect && !isBusy }
    }

    private struct Waiting {
        let waiter: Waiter
        let deadline: Duration
    }

    private let limits: Limits
    private var slots: [Slot]
    private var waiting = FirstInFirstOut<Waiting>()
    /// Waiters that had a connection before and have to run again: they go first, and wait until their own deadlines.
    private var returned = FirstInFirstOut<Waiting>()
    /// Since when no connection is known to work: none has been made yet, or one was lost, and no other has responded
    /// since then.
    private var awaySince: Duration?
    private var isClosing = false
    private var counts = PoolStatistics()

    /// A connection that is lost sooner than this after it was made counts as a failed attempt.
    private static var minimumLife: Duration { .seconds(1) }

    init(limits: Limits, now: Duration) {
        self.limits = limits
        awaySince = now
        slots = Array(repeating: .connecting(failures: 0), count: max(0, limits.connections))
    }

    /// When the first waiter's time is up.
    var nextDeadline: Duration? {
        .earlier(waiting.first?.deadline, returned.first?.deadline)
    }

    /// Whether every connection is closed, after `close()`.
    var isClosed: Bool {
        slots.allSatisfy { if case .closed = $0 { true } else { false } }
    }

    // MARK: Waiters

    /// A waiter wants a connection. It is refused at once where no connection has worked for as long as it could wait: so
    /// requests wait through a short interruption, and not through a long one.
    ///
    /// - Parameter deadline: until when it may wait, for a waiter that had one before.
    mutating func acquire(_ waiter: Waiter, again deadline: Duration? = nil, now: Duration) -> Action? {
        if isClosing { return .refuse(waiter, .closed) }
        if let slot = freeSlot {
            take(slot, now: now)
            return .dispatch(waiter, slot: slot)
        }
        if let deadline {
            returned.append(Waiting(waiter: waiter, deadline: deadline))
            return nil
        }
        if let awaySince, now - awaySince >= limits.acquireTimeout {
            counts.timedOutAcquires += 1
            return .refuse(waiter, .unavailable)
        }
        guard waiting.count < limits.waiters else {
            counts.refusedAcquires += 1
            return .refuse(waiter, refusal)
        }
        waiting.append(Waiting(waiter: waiter, deadline: now + limits.acquireTimeout))
        return nil
    }

    /// A waiter no longer wants a connection; returns it if it was still waiting.
    mutating func withdraw(where isMeant: (Waiter) -> Bool) -> Waiter? {
        let removed = waiting.removeAll { isMeant($0.waiter) } + returned.removeAll { isMeant($0.waiter) }
        return removed.first?.waiter
    }

    /// A query took longer than it may.
    mutating func queryTimedOut() {
        counts.timedOutQueries += 1
    }

    /// The time has come to look for waiters whose deadline has passed.
    mutating func expireWaiters(now: Duration) -> [Action] {
        // Waiters that lost a connection have their own deadlines, in no order.
        var expired = returned.removeAll { $0.deadline <= now }
        while let first = waiting.first, first.deadline <= now {
            _ = waiting.popFirst()
            expired.append(first)
        }
        counts.timedOutAcquires += expired.count
        return expired.map { .refuse($0.waiter, refusal) }
    }

    /// A query on the slot's connection is over.
    mutating func release(slot: Int, now: Duration) -> [Action] {
        guard var healthy = slots[slot].healthy else { return [] }
        healthy.isBusy = false
        healthy.lastUsed = now
        healthy.isSuspect = false
        slots[slot] = .ready(healthy)
        awaySince = nil
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
        slots[slot] = .ready(Healthy(since: now, lastUsed: now, failures: failures))
        awaySince = nil
        return settle(slot, now: now)
    }

    mutating func connectFailed(
        slot: Int, reason: ConnectFailure = .other, random: Double
    ) -> Action? {
        guard case .connecting(let failures) = slots[slot] else { return nil }
        counts.failedConnects += 1
        counts.connectFailures[reason, default: 0] += 1
        return reconnect(slot, failures: failures + 1, random: random)
    }

    /// The slot's connection has ended by itself, and with it what was in flight there.
    mutating func lost(slot: Int, now: Duration, random: Double) -> [Action] {
        guard let healthy = slots[slot].healthy else { return [] }
        counts.lostConnections += 1
        awaySince = awaySince ?? now
        let wasShort = now - healthy.since < Self.minimumLife
        let action = reconnect(slot, failures: wasShort ? healthy.failures + 1 : 0, random: random)
        return [action].compactMap(\.self) + suspectAll(now: now)
    }

    /// Suspects all other connections after one was lost. The cause, such as a server's stop, often ends the others a
    /// moment later, and queries that are sent again would be lost with them. Idle ones are checked at once.
    private mutating func suspectAll(now: Duration) -> [Action] {
        guard !isClosing else { return [] }
        var actions: [Action] = []
        for slot in slots.indices {
            guard var healthy = slots[slot].healthy else { continue }
            healthy.isSuspect = true
            slots[slot] = .ready(healthy)
            guard !healthy.isBusy else { continue }
            take(slot, now: now)
            actions.append(.check(slot: slot))
        }
        return actions
    }

    /// The time has come to check the connections that nobody has used for that long.
    mutating func checkIdle(since threshold: Duration, now: Duration) -> [Action] {
        var actions: [Action] = []
        for slot in slots.indices {
            if let healthy = slots[slot].healthy, !healthy.isBusy, healthy.lastUsed <= threshold {
                take(slot, now: now)
                actions.append(.check(slot: slot))
            }
        }
        return actions
    }

    // MARK: The end

    /// Admits no more queries; connections close as soon as they are idle.
    mutating func close() -> [Action] {
        guard !isClosing else { return [] }
        isClosing = true
        var actions: [Action] = []
        while let first = popWaiter() { actions.append(.refuse(first.waiter, .closed)) }
        for slot in slots.indices {
            switch slots[slot] {
            case .ready(let healthy) where !healthy.isBusy:
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

    /// The grace is over: connections close, and their queries in flight fail.
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

    var statistics: PoolStatistics {
        var statistics = counts
        statistics.waiting = waiting.count + returned.count
        for slot in slots {
            switch slot {
            case .ready(let healthy):
                statistics.connections += 1
                if healthy.isBusy { statistics.busyConnections += 1 }
            case .connecting, .backingOff:
                statistics.missingConnections += 1
            case .closed:
                break
            }
        }
        return statistics
    }

    // MARK: Inside

    private mutating func popWaiter() -> Waiting? { returned.popFirst() ?? waiting.popFirst() }

    private var refusal: PostgresError.Code { awaySince == nil ? .busy : .unavailable }

    private var freeSlot: Int? { slots.firstIndex { $0.healthy?.isFree == true } }

    private mutating func take(_ slot: Int, now: Duration) {
        guard var healthy = slots[slot].healthy else { return }
        healthy.isBusy = true
        healthy.lastUsed = now
        slots[slot] = .ready(healthy)
    }

    /// Gives a free slot to who waits longest, or closes it at the pool's end.
    private mutating func settle(_ slot: Int, now: Duration) -> [Action] {
        guard let healthy = slots[slot].healthy, healthy.isFree else { return [] }
        if let first = popWaiter() {
            take(slot, now: now)
            return [.dispatch(first.waiter, slot: slot)]
        }
        guard isClosing else { return [] }
        slots[slot] = .closed
        return [.close(slot: slot)]
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

/// How long to wait before the next attempt to connect.
///
/// Short at first and never more than a second, so that a pool is healthy soon after a long outage; random, so that the
/// processes of a fleet don't connect all at the same moments.
struct ReconnectBackoff {
    private static let first = Duration.milliseconds(50)
    private static let maximum = Duration.seconds(1)

    /// The wait after that many failures in a row (from 1), between half and all of the doubling step.
    static func delay(failures: Int, random: Double) -> Duration {
        let doublings = min(max(failures, 1) - 1, 10)
        let step = min(first * (1 << doublings), maximum)
        return step * (0.5 + 0.5 * min(max(random, 0), 1))
    }
}

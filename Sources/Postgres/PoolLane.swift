import EventLoop

/// The connections of one lane: does what its state machine says. Confined to the loop.
final class PoolLane {
    typealias Machine = PoolStateMachine<PoolWaiter>

    let loop: EventLoop
    private let name: PoolLaneName
    private let route: ConnectionPool.Route
    private let options: PoolOptions
    private let threads: PostgresThreads
    private let observe: (PoolObservation) -> Void

    private var machine: Machine
    private(set) var connections: [PostgresConnection?]
    private var backoffTimers: [LoopTimer] = []
    private var waiterTimer: LoopTimer?
    private var healthTimer: LoopTimer?
    /// When the timer for waiters fires; nil while it doesn't run.
    private var waiterDeadline: Duration?
    /// Why the last connection could not be made, or ended; nil since one was made.
    private var lastFailure: String?
    /// Those that have neither connected nor failed to since the start.
    private var untriedSlots: Set<Int>
    private var trialWaiters: [UnsafeContinuation<Void, Never>] = []
    private var closeWaiters: [UnsafeContinuation<Void, Never>] = []

    init(
        _ name: PoolLaneName, route: @escaping ConnectionPool.Route, options: PoolOptions, loop: EventLoop,
        threads: PostgresThreads, observe: @escaping (PoolObservation) -> Void
    ) {
        self.name = name
        self.route = route
        self.options = options
        self.loop = loop
        self.threads = threads
        self.observe = observe
        let (count, depth) = options.limits(of: name)
        machine = Machine(
            limits: Machine.Limits(
                connections: count, depth: depth, waiters: options.waitersPerLane,
                acquireTimeout: options.acquireTimeout))
        connections = Array(repeating: nil, count: count)
        untriedSlots = Set(connections.indices)
    }

    /// Starts the timers and the first attempts to connect.
    func start() {
        backoffTimers = connections.indices.map { slot in
            LoopTimer(loop: loop) { [weak self] in
                guard let self else { return }
                perform(machine.backoffEnded(slot: slot))
            }
        }
        waiterTimer = LoopTimer(loop: loop) { [weak self] in self?.expireWaiters() }
        healthTimer = LoopTimer(loop: loop) { [weak self] in self?.checkIdleConnections() }
        healthTimer?.start(after: options.healthCheckInterval, repeating: options.healthCheckInterval)
        for action in machine.start() { perform(action) }
    }

    var statistics: PoolStatistics.Lane { machine.statistics }

    // MARK: Waiters

    /// Sends a query whose caller waits, as soon as there is a place.
    func submit(_ query: PendingQuery) {
        acquire(.query(query))
    }

    /// Sends a query again whose connection was lost, unless its time is up.
    func resubmit(_ query: PendingQuery, after error: PostgresError) {
        guard let expiry = query.expiry, expiry > loop.now else {
            query.resubmit = nil
            return query.answer(.failure(error))
        }
        perform(machine.acquire(.query(query), again: expiry, now: loop.now))
        watchWaiters()
    }

    /// Gives a connection to a lease whose caller waits, as soon as one is free.
    ///
    /// - Parameter waitsUntil: until when somebody may wait who had a connection before, and lost it.
    func acquire(_ waiter: PoolWaiter, again waitsUntil: Duration? = nil) {
        perform(machine.acquire(waiter, again: waitsUntil, now: loop.now))
        watchWaiters()
    }

    /// Counts a query that took longer than it may.
    func countTimedOutQuery() {
        machine.queryTimedOut()
    }

    /// The task of a query's caller was cancelled.
    func cancel(_ query: PendingQuery) {
        if machine.withdraw(where: { $0.isIdentical(to: query) }) != nil {
            query.answer(.failure(PostgresError(.cancelled)))
        } else {
            query.connection?.cancel(query)
        }
    }

    /// The task of a lease's caller was cancelled; a lease that has been given stays.
    func cancel(_ lease: PendingLease) {
        guard machine.withdraw(where: { $0.isIdentical(to: lease) }) != nil else { return }
        lease.answer(.failure(PostgresError(.cancelled)))
    }

    /// The connection that a lease got; nil if it has ended meanwhile.
    func connection(of slot: Int) -> PostgresConnection? { connections[slot] }

    /// A lease is over.
    func endLease(of connection: PostgresConnection, slot: Int) {
        // If it was lost, its successor may be in the slot already.
        guard connections[slot] === connection else { return }
        attend(connection, slot)
        release(slot)
    }

    private func release(_ slot: Int) {
        for action in machine.release(slot: slot, now: loop.now) { perform(action) }
        finishClosing()
    }

    private func watchWaiters() {
        guard let deadline = machine.nextDeadline, waiterDeadline.map({ deadline < $0 }) ?? true else {
            return
        }
        waiterDeadline = deadline
        waiterTimer?.start(after: deadline - loop.now)
    }

    private func expireWaiters() {
        waiterDeadline = nil
        for action in machine.expireWaiters(now: loop.now) { perform(action) }
        watchWaiters()
    }

    // MARK: Connections

    private func perform(_ action: Machine.Action?) {
        switch action {
        case nil: break
        case .connect(let slot): connect(slot)
        case .connectLater(let slot, let delay): backoffTimers[slot].start(after: delay)
        case .dispatch(let waiter, let slot): dispatch(waiter, slot)
        case .refuse(let waiter, let code):
            waiter.refuse(PostgresError(code, clientMessage: code == .unavailable ? lastFailure : nil))
        case .check(let slot):
            // Its deadline closes a connection that doesn't answer: nobody has to wait for it.
            guard let connection = connections[slot] else { return }
            connection.submit(
                PendingQuery(.unnamed("SELECT 1"), [], timeout: connection.configuration.overrunGrace))
        case .close(let slot):
            connections[slot]?.end(nil)
        }
    }

    private func dispatch(_ waiter: PoolWaiter, _ slot: Int) {
        // Ended by what was sent there just now, in the same turn: nothing of this one has left.
        guard let connection = connections[slot] else { return acquire(waiter) }
        switch waiter {
        case .query(let query):
            query.connection = connection
            connection.submit(query)
        case .lease(let lease):
            connection.onQueryEnd = nil
            lease.answer(.success(slot))
        }
    }

    private func connect(_ slot: Int) {
        let bound = LoopBound(self, loop: loop)
        let (configurations, threads) = (route(), threads)
        Task(executorPreference: loop) {
            var failure = PostgresError(.connectionFailed, clientMessage: "there is no server to connect to")
            for configuration in configurations {
                do throws(PostgresError) {
                    let connection = try await PostgresConnection.connect(
                        configuration, loop: bound.loop, threads: threads)
                    return bound.value.connected(connection, slot)
                } catch {
                    failure = error
                }
            }
            bound.value.connectFailed(failure, slot)
        }
    }

    /// Has the slot's connection made anew once it is idle.
    func retire(_ slot: Int) {
        for action in machine.retire(slot: slot, now: loop.now) { perform(action) }
    }

    private func connected(_ connection: PostgresConnection, _ slot: Int) {
        connections[slot] = connection
        lastFailure = nil
        connection.onEnd = { [weak self] error in self?.ended(error, slot) }
        attend(connection, slot)
        observe(.connected(name))
        // PgBouncer up to 1.18 at least gives its backend to another client after the first of several queries
        // that are in flight, and the answers to the others never come.
        for action in machine.connected(slot: slot, isSerial: connection.isPooled, now: loop.now) {
            perform(action)
        }
        noteTrial(of: slot)
    }

    /// Waits until every connection has been made, or has failed to be, once.
    func waitUntilTried() async {
        guard !untriedSlots.isEmpty else { return }
        await withUnsafeContinuation { trialWaiters.append($0) }
    }

    private func noteTrial(of slot: Int) {
        untriedSlots.remove(slot)
        guard untriedSlots.isEmpty else { return }
        for waiter in trialWaiters { waiter.resume() }
        trialWaiters = []
    }

    /// Sets the hooks that a lease takes away, or may have changed.
    private func attend(_ connection: PostgresConnection, _ slot: Int) {
        connection.onNotice = { [weak self] report in self?.observe(.notice(report)) }
        connection.onNotification = nil
        connection.onQueryEnd = { [weak self] in self?.release(slot) }
    }

    private func connectFailed(_ error: PostgresError, _ slot: Int) {
        lastFailure = error.serverMessage
        observe(.connectFailed(name, error))
        let reason = error.connectFailure ?? .other
        perform(machine.connectFailed(slot: slot, reason: reason, random: .random(in: 0...1)))
        noteTrial(of: slot)
        finishClosing()
    }

    private func ended(_ error: PostgresError?, _ slot: Int) {
        let connection = connections[slot]
        connections[slot] = nil
        if let error {
            lastFailure = error.serverMessage.map { connection?.configuration.logLine($0) ?? $0 }
            observe(.connectionLost(name, error))
        }
        let actions = machine.lost(slot: slot, now: loop.now, random: .random(in: 0...1))
        for action in actions { perform(action) }
        guard let connection else { return finishClosing() }
        closing += 1
        let bound = LoopBound((self, connection), loop: loop)
        Task(executorPreference: loop) {
            let (lane, connection) = bound.value
            await connection.close()
            lane.closing -= 1
            lane.finishClosing()
        }
    }

    /// Connections that have ended and whose socket is not closed yet.
    private var closing = 0

    private func checkIdleConnections() {
        let now = loop.now
        for action in machine.checkIdle(since: now - options.healthCheckInterval, now: now) {
            perform(action)
        }
    }

    // MARK: The end

    /// Closes every connection once it is idle, or after `grace` at the latest.
    func startClosing(grace: Duration) {
        for action in machine.close() { perform(action) }
        // The lane's own timers have no more work; this one ends the patience.
        waiterTimer?.close()
        waiterTimer = LoopTimer(loop: loop) { [weak self] in
            guard let self else { return }
            for action in machine.closeNow() { perform(action) }
            finishClosing()
        }
        waiterTimer?.start(after: grace)
    }

    /// Waits for the end of what `startClosing(grace:)` has begun.
    func waitUntilClosed() async {
        await withUnsafeContinuation { continuation in
            closeWaiters.append(continuation)
            finishClosing()
        }
    }

    private func finishClosing() {
        guard !closeWaiters.isEmpty, machine.isClosed, closing == 0 else { return }
        waiterTimer?.close()
        healthTimer?.close()
        for timer in backoffTimers { timer.close() }
        backoffTimers = []
        let waiters = closeWaiters
        closeWaiters = []
        for waiter in waiters { waiter.resume() }
    }
}

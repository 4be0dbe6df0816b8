import EventLoop

/// The connections of one lane of a pool: does what its state machine says. Confined to the loop.
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
    /// Slots whose first attempt to connect is still under way.
    private var untriedSlots: Set<Int>
    private let tried = OneTimeEvent()
    /// Connections that have ended and whose socket is not closed yet.
    private var closing = 0
    private var isClosing = false
    private let closed = OneTimeEvent()

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

    /// Sends a query again after an error that need not come again, unless its time is up.
    func resubmit(_ query: PendingQuery, after error: PostgresError) {
        guard let expiry = query.expiry, expiry > loop.now else {
            query.lane = nil
            return query.complete(with: .failure(error))
        }
        acquire(.query(query), again: expiry)
    }

    /// Gives a place to a query or a lease, as soon as there is one.
    ///
    /// - Parameter waitsUntil: the deadline of a query that had a connection before, and now goes before others.
    func acquire(_ waiter: PoolWaiter, again waitsUntil: Duration? = nil) {
        guard let action = machine.acquire(waiter, again: waitsUntil, now: loop.now)
        else { return watchWaiters() }
        perform(action)
    }

    /// Counts a query that took longer than it may.
    func countTimedOutQuery() {
        machine.queryTimedOut()
    }

    /// The task of a query's caller was cancelled.
    func cancel(_ query: PendingQuery) {
        if machine.withdraw(where: { $0.isIdentical(to: query) }) != nil {
            query.complete(with: .failure(PostgresError(.cancelled)))
        } else {
            query.connection?.cancel(query)
        }
    }

    /// The task of a lease's caller was cancelled; a lease that has its connection keeps it.
    func cancel(_ lease: PendingResult<Int>) {
        guard machine.withdraw(where: { $0.isIdentical(to: lease) }) != nil else { return }
        lease.complete(with: .failure(PostgresError(.cancelled)))
    }

    /// The connection that a lease got; nil if it has ended meanwhile.
    func connection(of slot: Int) -> PostgresConnection? { connections[slot] }

    /// A lease is over.
    func endLease(of connection: PostgresConnection, slot: Int) {
        // If it was lost, its successor may be in the slot already.
        guard connections[slot] === connection else { return }
        setHooks(of: connection, slot)
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
            // Its deadline closes a connection that doesn't respond: nobody has to wait for it.
            guard let connection = connections[slot] else { return }
            connection.submit(
                PendingQuery(.unnamed("SELECT 1"), [], timeout: connection.configuration.overrunGrace))
        case .close(let slot):
            connections[slot]?.end(nil)
        }
    }

    private func dispatch(_ waiter: PoolWaiter, _ slot: Int) {
        // Something that was sent there in the same turn has ended the connection; nothing of this one was sent.
        guard let connection = connections[slot] else { return acquire(waiter) }
        switch waiter {
        case .query(let query):
            query.connection = connection
            connection.submit(query)
        case .lease(let lease):
            connection.onQueryEnd = nil
            lease.complete(with: .success(slot))
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

    /// Replaces the slot's connection once it is idle.
    private func retire(_ slot: Int) {
        for action in machine.retire(slot: slot, now: loop.now) { perform(action) }
    }

    private func connected(_ connection: PostgresConnection, _ slot: Int) {
        connections[slot] = connection
        lastFailure = nil
        connection.onEnd = { [weak self] error in self?.ended(error, slot) }
        setHooks(of: connection, slot)
        observe(.connected(name))
        // PgBouncer, up to 1.18 at least, gives its backend to another client after the first of several queries
        // that are in flight, and the results of the others never come.
        for action in machine.connected(slot: slot, isSerial: connection.isPooled, now: loop.now) {
            perform(action)
        }
        noteTried(slot)
    }

    /// Waits until every connection has been made, or has failed to be, once.
    func waitUntilTried() async {
        guard !untriedSlots.isEmpty else { return }
        await tried.wait()
    }

    private func noteTried(_ slot: Int) {
        untriedSlots.remove(slot)
        if untriedSlots.isEmpty { tried.happen() }
    }

    /// Sets the hooks, at first and after a lease, which takes one away.
    private func setHooks(of connection: PostgresConnection, _ slot: Int) {
        connection.onNotice = { [weak self] report in self?.observe(.notice(report)) }
        connection.onQueryEnd = { [weak self] in self?.release(slot) }
    }

    private func connectFailed(_ error: PostgresError, _ slot: Int) {
        lastFailure = error.serverMessage
        observe(.connectFailed(name, error))
        let reason = error.connectFailure ?? .other
        perform(machine.connectFailed(slot: slot, reason: reason, random: .random(in: 0...1)))
        noteTried(slot)
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

    private func checkIdleConnections() {
        let now = loop.now
        for action in machine.checkIdle(since: now - options.healthCheckInterval, now: now) {
            perform(action)
        }
    }

    /// See ``ConnectionPool/review(_:)``.
    func review(_ fate: (_ target: (host: String, port: String)) -> ConnectionPool.Fate) {
        var hasMoved = false
        for (slot, connection) in connections.enumerated() {
            guard let connection else { continue }
            switch fate(connection.target) {
            case .keep:
                break
            case .move where hasMoved:
                break
            case .move:
                hasMoved = true
                retire(slot)
            case .leave:
                retire(slot)
            case .abandon:
                connection.end(PostgresError(.connectionLost, clientMessage: "its server does not respond"))
            }
        }
    }

    // MARK: The end

    /// Closes every connection once it is idle, or after `grace` at the latest.
    func startClosing(grace: Duration) {
        for action in machine.close() { perform(action) }
        isClosing = true
        // Nobody waits any more, so that the timer can be the one that ends the grace.
        waiterTimer?.close()
        waiterTimer = LoopTimer(loop: loop) { [weak self] in
            guard let self else { return }
            for action in machine.closeNow() { perform(action) }
            finishClosing()
        }
        waiterTimer?.start(after: grace)
    }

    /// Waits until every connection is closed, after `startClosing(grace:)`.
    func waitUntilClosed() async {
        finishClosing()
        await closed.wait()
    }

    private func finishClosing() {
        guard isClosing, machine.isClosed, closing == 0 else { return }
        waiterTimer?.close()
        healthTimer?.close()
        for timer in backoffTimers { timer.close() }
        backoffTimers = []
        closed.happen()
    }
}

/// What waits for a place on a connection of a lane.
enum PoolWaiter {
    /// A single query, to be sent as soon as there is a place.
    case query(PendingQuery)
    /// A caller that wants a connection to itself for a while; it gets the connection's slot.
    case lease(PendingResult<Int>)

    /// Fails it, because there is no place.
    fileprivate func refuse(_ error: PostgresError) {
        switch self {
        case .query(let query): query.complete(with: .failure(error))
        case .lease(let lease): lease.complete(with: .failure(error))
        }
    }

    /// Whether this is that query or that lease.
    fileprivate func isIdentical(to object: AnyObject) -> Bool {
        switch self {
        case .query(let query): query === object
        case .lease(let lease): lease === object
        }
    }
}

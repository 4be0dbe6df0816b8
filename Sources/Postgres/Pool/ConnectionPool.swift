import EventLoop

/// A loop's connections to PostgreSQL, with one query at a time on each.
///
/// Confined to its loop. It connects from the start and makes lost connections anew by itself; queries that find no
/// connection in time fail with a typed error. ``close(grace:)`` must be awaited before the loop stops.
package final class ConnectionPool {
    typealias Machine = PoolStateMachine<PendingQuery>

    /// The loop that the pool belongs to.
    package let loop: EventLoop
    private let configuration: PostgresConfiguration
    private let options: PoolOptions
    private let threads = PostgresThreads()
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

    /// Starts connecting. To be called on the loop's thread.
    ///
    /// - Parameter observe: called on the loop with what happens to connections.
    package init(
        _ configuration: PostgresConfiguration, options: PoolOptions = PoolOptions(), loop: EventLoop,
        observe: @escaping (PoolObservation) -> Void = { _ in }
    ) {
        loop.preconditionInEventLoop()
        self.configuration = configuration
        self.options = options
        self.loop = loop
        self.observe = observe
        let count = max(1, options.connections)
        machine = Machine(
            limits: Machine.Limits(
                connections: count, waiters: options.waiters, acquireTimeout: options.acquireTimeout),
            now: loop.now)
        connections = Array(repeating: nil, count: count)
        untriedSlots = Set(connections.indices)
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

    package var statistics: PoolStatistics {
        loop.preconditionInEventLoop()
        return machine.statistics
    }

    /// Waits until every connection has been made, or has failed to be, once, for at most 4 s. After that no query has to
    /// wait because the pool is starting.
    ///
    /// A host that doesn't respond takes libpq's `connect_timeout` for each connection, one after the other.
    package func waitUntilTried() async {
        loop.preconditionInEventLoop()
        guard !untriedSlots.isEmpty else { return }
        let limit = LoopTimer(loop: loop) { [tried] in tried.happen() }
        limit.start(after: .seconds(4))
        await tried.wait()
        limit.close()
    }

    // MARK: Queries

    /// Runs a prepared statement.
    ///
    /// - Parameters:
    ///   - timeout: how long it may take once it has a connection; nil takes the pool's `queryTimeout`.
    ///   - deadline: until when, by the loop's clock, it may wait for a connection and run; nil adds up both limits.
    ///   - isIdempotent: whether it may be run again where the connection is lost before the result, or where a standby has
    ///     ended the query because of what it had to replay: within that time, and at most as often as there are
    ///     connections.
    /// - Throws: ``PostgresError``: `busy` or `unavailable` where there was no connection in time, `queryTimedOut`,
    ///   `connectionLost`, `server`, …; `cancelled`, at once, where the task is cancelled.
    package func query(
        _ statement: PreparedStatement, _ parameters: [PostgresValue] = [],
        timeout: Duration? = nil, deadline: Duration? = nil, isIdempotent: Bool = false
    ) async throws(PostgresError) -> PostgresRows {
        try await run(
            PendingQuery(
                .prepared(statement), parameters, timeout: timeout ?? options.queryTimeout,
                deadline: deadline, isIdempotent: isIdempotent))
    }

    /// Runs a query that is parsed anew; otherwise as with a prepared statement.
    package func query(
        _ query: PostgresQuery, timeout: Duration? = nil, deadline: Duration? = nil,
        isIdempotent: Bool = false
    ) async throws(PostgresError) -> PostgresRows {
        try await run(
            PendingQuery(
                .unnamed(query.sql), query.parameters, timeout: timeout ?? options.queryTimeout,
                deadline: deadline, isIdempotent: isIdempotent))
    }

    private func run(_ query: PendingQuery) async throws(PostgresError) -> PostgresRows {
        loop.preconditionInEventLoop()
        try query.validate()
        if query.isIdempotent {
            query.pool = self
            query.resubmissionsLeft = connections.count
            query.expiry = query.expiry ?? loop.now + options.acquireTimeout + (query.timeout ?? .zero)
        }
        let outcome = await query.outcome(
            on: loop, start: { acquire(query) }, cancel: { self.cancel(query) })
        if case .failure(let error) = outcome, error.code == .queryTimedOut { machine.queryTimedOut() }
        return try outcome.get()
    }

    /// Sends a query again after an error that need not come again, unless its time is up.
    func resubmit(_ query: PendingQuery, after error: PostgresError) {
        guard let expiry = query.expiry, expiry > loop.now else {
            query.pool = nil
            return query.complete(with: .failure(error))
        }
        acquire(query, again: expiry)
    }

    /// Gives a connection to a query, as soon as there is one.
    ///
    /// - Parameter waitsUntil: the deadline of a query that had a connection before, and now goes before others.
    private func acquire(_ query: PendingQuery, again waitsUntil: Duration? = nil) {
        guard let action = machine.acquire(query, again: waitsUntil, now: loop.now)
        else { return watchWaiters() }
        perform(action)
    }

    /// The task of a query's caller was cancelled.
    private func cancel(_ query: PendingQuery) {
        if machine.withdraw(where: { $0 === query }) != nil {
            query.complete(with: .failure(PostgresError(.cancelled)))
        } else {
            query.connection?.cancel(query)
        }
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
            let reason = lastFailure ?? "no attempt to connect has ended yet"
            waiter.complete(
                with: .failure(PostgresError(code, clientMessage: code == .unavailable ? reason : nil)))
        case .check(let slot):
            // Its deadline closes a connection that doesn't respond: nobody has to wait for it.
            guard let connection = connections[slot] else { return }
            connection.submit(
                PendingQuery(.unnamed("SELECT 1"), [], timeout: connection.configuration.overrunGrace))
        case .close(let slot):
            connections[slot]?.end(nil)
        }
    }

    private func dispatch(_ query: PendingQuery, _ slot: Int) {
        // Something that was sent there in the same turn has ended the connection; nothing of this one was sent.
        guard let connection = connections[slot] else { return acquire(query) }
        query.connection = connection
        connection.submit(query)
    }

    private func connect(_ slot: Int) {
        let bound = LoopBound(self, loop: loop)
        let (configuration, threads) = (configuration, threads)
        Task(executorPreference: loop) {
            do throws(PostgresError) {
                let connection = try await PostgresConnection.connect(
                    configuration, loop: bound.loop, threads: threads)
                bound.value.connected(connection, slot)
            } catch {
                bound.value.connectFailed(error, slot)
            }
        }
    }

    private func connected(_ connection: PostgresConnection, _ slot: Int) {
        connections[slot] = connection
        lastFailure = nil
        connection.onEnd = { [weak self] error in self?.ended(error, slot) }
        connection.onNotice = { [weak self] report in self?.observe(.notice(report)) }
        connection.onQueryEnd = { [weak self] in self?.release(slot) }
        observe(.connected)
        for action in machine.connected(slot: slot, now: loop.now) { perform(action) }
        noteTried(slot)
    }

    private func noteTried(_ slot: Int) {
        untriedSlots.remove(slot)
        if untriedSlots.isEmpty { tried.happen() }
    }

    private func connectFailed(_ error: PostgresError, _ slot: Int) {
        lastFailure = error.serverMessage
        observe(.connectFailed(error))
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
            observe(.connectionLost(error))
        }
        let actions = machine.lost(slot: slot, now: loop.now, random: .random(in: 0...1))
        for action in actions { perform(action) }
        guard let connection else { return finishClosing() }
        closing += 1
        let bound = LoopBound((self, connection), loop: loop)
        Task(executorPreference: loop) {
            let (pool, connection) = bound.value
            await connection.close()
            pool.closing -= 1
            pool.finishClosing()
        }
    }

    private func checkIdleConnections() {
        let now = loop.now
        for action in machine.checkIdle(since: now - options.healthCheckInterval, now: now) {
            perform(action)
        }
    }

    // MARK: The end

    /// Closes the pool: waiting queries fail with ``PostgresError/Code/closed``, and those in flight have `grace` to
    /// end.
    ///
    /// Returns when every socket is closed; an attempt to connect that is under way is waited for.
    package func close(grace: Duration = .seconds(5)) async {
        loop.preconditionInEventLoop()
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

/// A pool's sizes and times.
package struct PoolOptions: Sendable, Hashable {
    /// How many connections it has, at least 1.
    package var connections = 4
    /// How many queries may wait for a connection.
    package var waiters = 1024
    package var acquireTimeout: Duration = .seconds(1)
    /// How long a query may take once it has a connection, where its caller sets no limit.
    package var queryTimeout: Duration? = .seconds(2)
    /// The idle time after which a connection is checked.
    package var healthCheckInterval: Duration = .seconds(30)

    /// The defaults.
    package init() {}
}

/// What happens to a pool's connections, for logs and metrics.
package enum PoolObservation: Sendable {
    /// A connection has been made.
    case connected
    /// An attempt has failed; another follows.
    case connectFailed(PostgresError)
    /// A connection has ended by itself.
    case connectionLost(PostgresError)
    case notice(PostgresServerReport)
}

/// A pool in numbers, at one moment.
package struct PoolStatistics: Sendable, Hashable {
    package internal(set) var connections = 0
    /// Healthy connections with a query in flight.
    package internal(set) var busyConnections = 0
    /// Connections that are being made, or wait for the next attempt.
    package internal(set) var missingConnections = 0
    package internal(set) var waiting = 0
    /// How many waited too long for a connection, or would have, since the start.
    package internal(set) var timedOutAcquires = 0
    /// How many were refused because too many waited, since the start.
    package internal(set) var refusedAcquires = 0
    /// Queries that took longer than they may, since the start.
    package internal(set) var timedOutQueries = 0
    /// Attempts to connect that failed since the start.
    package internal(set) var failedConnects = 0
    /// Failed attempts by their kind, without the kinds that never happened.
    package internal(set) var connectFailures: [ConnectFailure: Int] = [:]
    /// Connections that ended by themselves since the start.
    package internal(set) var lostConnections = 0
}

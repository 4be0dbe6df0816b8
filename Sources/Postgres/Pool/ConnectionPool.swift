import EventLoop

/// A loop's connections to PostgreSQL, in lanes: see ``PoolLaneName``.
///
/// Confined to its loop. It connects from the start and makes lost connections anew by itself; queries that find no
/// connection in time fail with a typed error. ``close(grace:)`` must be awaited before the loop stops.
public final class ConnectionPool {
    /// The loop that the pool belongs to.
    public let loop: EventLoop
    /// Returns the servers that a connection may be made to, the best first. Called on the loop before each attempt.
    public typealias Route = () -> [PostgresConfiguration]

    private let options: PoolOptions
    /// How long a statement may take where its caller sets no limit.
    var queryTimeout: Duration? { options.queryTimeout }
    var acquireTimeout: Duration { options.acquireTimeout }
    let fast: PoolLane
    let exclusive: PoolLane

    /// Starts connecting, always to the same servers. To be called on the loop's thread.
    ///
    /// - Parameter observe: called on the loop with what happens to connections.
    public convenience init(
        _ configuration: PostgresConfiguration, options: PoolOptions = PoolOptions(), loop: EventLoop,
        observe: @escaping (PoolObservation) -> Void = { _ in }
    ) {
        self.init(route: { [configuration] }, options: options, loop: loop, observe: observe)
    }

    /// Starts connecting, each time to the servers that `route` names then. To be called on the loop's thread.
    ///
    /// - Parameter observe: called on the loop with what happens to connections.
    public init(
        route: @escaping Route, options: PoolOptions = PoolOptions(), loop: EventLoop,
        observe: @escaping (PoolObservation) -> Void = { _ in }
    ) {
        loop.preconditionInEventLoop()
        self.loop = loop
        self.options = options
        let threads = PostgresThreads()
        func lane(_ name: PoolLaneName) -> PoolLane {
            PoolLane(
                name, route: route, options: options, loop: loop, threads: threads, observe: observe)
        }
        fast = lane(.fast)
        exclusive = lane(.exclusive)
        for lane in lanes { lane.start() }
    }

    var lanes: [PoolLane] { [fast, exclusive] }

    func lane(_ name: PoolLaneName) -> PoolLane {
        switch name {
        case .fast: fast
        case .exclusive: exclusive
        }
    }

    /// The pool in numbers.
    public var statistics: PoolStatistics {
        loop.preconditionInEventLoop()
        var statistics = PoolStatistics()
        statistics.fast = fast.statistics
        statistics.exclusive = exclusive.statistics
        return statistics
    }

    /// Waits until every connection has been made, or has failed to be, once. After that no query has to wait because
    /// the pool is starting.
    public func waitUntilTried() async {
        loop.preconditionInEventLoop()
        for lane in lanes { await lane.waitUntilTried() }
    }

    /// Runs a prepared statement on a connection of the lane.
    ///
    /// - Parameters:
    ///   - timeout: how long it may take once it has a place; nil takes the pool's `queryTimeout`.
    ///   - deadline: until when, by the loop's clock, it may wait for a place and run; nil adds up both limits.
    ///   - isIdempotent: whether it may be run again where the connection is lost before the result, or where a standby has
    ///     ended the query because of what it had to replay: within that time, and at most as often as the lane has
    ///     connections. In the fast lane such queries share transactions, so they must only read.
    /// - Throws: ``PostgresError``: `busy` or `unavailable` where there was no place in time, `queryTimedOut`,
    ///   `connectionLost`, `server`, …; `cancelled`, at once, where the task is cancelled.
    public func query(
        _ statement: PreparedStatement, _ parameters: [PostgresValue] = [], lane: PoolLaneName = .fast,
        timeout: Duration? = nil, deadline: Duration? = nil, isIdempotent: Bool = false
    ) async throws(PostgresError) -> PostgresRows {
        try await run(
            PendingQuery(
                .prepared(statement), parameters, timeout: timeout ?? options.queryTimeout,
                deadline: deadline, isIdempotent: isIdempotent, sharesSync: isIdempotent && lane == .fast),
            on: lane)
    }

    /// Runs a query that is parsed anew; otherwise as with a prepared statement.
    public func query(
        _ query: PostgresQuery, lane: PoolLaneName = .exclusive, timeout: Duration? = nil,
        deadline: Duration? = nil, isIdempotent: Bool = false
    ) async throws(PostgresError) -> PostgresRows {
        try await run(
            PendingQuery(
                .unnamed(query.sql), query.parameters, timeout: timeout ?? options.queryTimeout,
                deadline: deadline, isIdempotent: isIdempotent), on: lane)
    }

    // Each call that may suspend costs some 400 instructions.
    @inline(__always)
    private func run(_ query: PendingQuery, on lane: PoolLaneName) async throws(PostgresError) -> PostgresRows
    {
        loop.preconditionInEventLoop()
        try query.validate()
        let lane = self.lane(lane)
        if query.isIdempotent {
            query.lane = lane
            query.resubmissionsLeft = lane.connections.count
            query.expiry = query.expiry ?? loop.now + options.acquireTimeout + (query.timeout ?? .zero)
        }
        let outcome = await query.outcome(
            on: loop, start: { lane.submit(query) }, cancel: { lane.cancel(query) })
        if case .failure(let error) = outcome, error.code == .queryTimedOut { lane.countTimedOutQuery() }
        return try outcome.get()
    }

    // MARK: Changing servers

    /// What becomes of a connection when the servers are looked at again.
    public enum Fate: Sendable, Hashable {
        /// It stays.
        case keep
        /// It is replaced once it is idle: one connection of a lane at a time, so that the others go on meanwhile.
        case move
        /// It gets no more queries, and is made anew once it is idle.
        case leave
        /// It ends now. What is in flight there is run elsewhere if it is idempotent.
        case abandon
    }

    /// Decides for every healthy connection, by the host and the port that it was made to, as libpq names them.
    public func review(_ fate: (_ target: (host: String, port: String)) -> Fate) {
        loop.preconditionInEventLoop()
        for lane in lanes { lane.review(fate) }
    }

    // MARK: The end

    /// Closes the pool: waiting queries fail with ``PostgresError/Code/closed``, and those in flight have `grace` to
    /// end.
    ///
    /// Returns when every socket is closed; an attempt to connect that is under way is waited for.
    public func close(grace: Duration = .seconds(5)) async {
        loop.preconditionInEventLoop()
        for lane in lanes { lane.startClosing(grace: grace) }
        for lane in lanes { await lane.waitUntilClosed() }
    }
}

/// A pool's sizes and times.
public struct PoolOptions: Sendable, Hashable {
    /// Connections of the fast lane; with none, its queries time out.
    public var fastConnections = 2
    /// Queries in flight on each of them, at least 1.
    public var fastDepth = 32
    /// Connections of the exclusive lane, at least 1.
    public var exclusiveConnections = 4
    /// All connections of a pool.
    public var connections: Int { fastConnections + exclusiveConnections }
    /// How many queries may wait for a place, in each lane.
    public var waitersPerLane = 1024
    /// How long a query may wait for a place.
    public var acquireTimeout: Duration = .seconds(1)
    /// How long a query may take once it has a place, where its caller sets no limit.
    public var queryTimeout: Duration? = .seconds(2)
    /// The idle time after which a connection is checked.
    public var healthCheckInterval: Duration = .seconds(30)

    /// The defaults.
    public init() {}

    func limits(of lane: PoolLaneName) -> (connections: Int, depth: Int) {
        switch lane {
        case .fast: (max(0, fastConnections), max(1, fastDepth))
        case .exclusive: (max(1, exclusiveConnections), 1)
        }
    }
}

/// What happens to a pool's connections, for logs and metrics.
public enum PoolObservation: Sendable {
    /// A connection has been made.
    case connected(PoolLaneName)
    /// An attempt has failed; another follows.
    case connectFailed(PoolLaneName, PostgresError)
    /// A connection has ended by itself.
    case connectionLost(PoolLaneName, PostgresError)
    /// The server sent a notice.
    case notice(PostgresServerReport)
}

/// The lanes of a pool.
public enum PoolLaneName: String, Sendable, Hashable, CaseIterable {
    /// Many queries in flight on each of a few connections. For queries that are quick as a rule, since one that takes long
    /// holds up those behind it.
    case fast
    /// One query, or one snapshot, at a time on each connection.
    case exclusive
}

/// A pool in numbers, at one moment.
public struct PoolStatistics: Sendable, Hashable {
    /// One of the lanes.
    public struct Lane: Sendable, Hashable {
        /// Healthy connections.
        public internal(set) var connections = 0
        /// Healthy connections with a query in flight.
        public internal(set) var busyConnections = 0
        /// Connections that are being made, or wait for the next attempt.
        public internal(set) var missingConnections = 0
        /// Queries and snapshots in flight.
        public internal(set) var inFlight = 0
        /// Queries and snapshots that wait for a place.
        public internal(set) var waiting = 0
        /// How many waited too long for a place, since the start.
        public internal(set) var timedOutAcquires = 0
        /// How many were refused because too many waited, since the start.
        public internal(set) var refusedAcquires = 0
        /// Queries that took longer than they may, since the start.
        public internal(set) var timedOutQueries = 0
        /// Attempts to connect that failed since the start.
        public internal(set) var failedConnects = 0
        /// Failed attempts by their kind, without the kinds that never happened.
        public internal(set) var connectFailures: [ConnectFailure: Int] = [:]
        /// Connections that ended by themselves since the start.
        public internal(set) var lostConnections = 0
        /// Connections that were replaced by one to another server, since the start.
        public internal(set) var retiredConnections = 0
    }

    /// Pipelined connections.
    public internal(set) var fast = Lane()
    /// Connections with one query at a time.
    public internal(set) var exclusive = Lane()
}

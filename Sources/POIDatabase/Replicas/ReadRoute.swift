import EventLoop
import Locking
import Postgres

/// Decides where reads go. All pools of a process share it, and one `ReplicaMonitor` keeps it up to date.
///
/// Any thread.
public final class ReadRoute: Sendable {
    /// The servers that are probed, in the order of `POI_READ_DATABASE_URL`.
    let endpoints: [PostgresEndpoint]
    private let reads: PostgresConfiguration
    private let primary: PostgresConfiguration
    private let servers: Lock<ReadServers>
    private let isWatched = Lock(false)
    /// How long a server may be silent before reads move to another one. It is short enough that a read that waits for that
    /// server can still run elsewhere within its request's time, and not shorter than what a busy server may take.
    let silenceLimit: Duration

    /// Makes a route; nil where reads have no address of their own.
    public init?(_ configuration: DatabaseConfiguration) {
        guard let reads = configuration.reads else { return nil }
        self.reads = reads
        primary = configuration.postgres
        endpoints = reads.endpoints
        silenceLimit = max(.milliseconds(250), min(.seconds(2), configuration.requestTimeout / 4))
        servers = Lock(
            ReadServers(
                endpoints, prefersStandbys: reads.prefersStandbys, maximumLag: configuration.maxReplicaLag))
    }

    /// Returns true to the first caller only, which then has to keep this up to date.
    func claimWatch() -> Bool { isWatched.claim() }

    /// The configuration that connects to this server and no other.
    func probe(_ endpoint: PostgresEndpoint) -> PostgresConfiguration {
        reads.probing(endpoint)
    }

    /// What a new connection tries, in order: the servers for reads that may get connections, then `DATABASE_URL`.
    var configurations: [PostgresConfiguration] {
        // Without a host in the string, libpq's defaults decide, and there is nothing to choose among.
        guard !endpoints.isEmpty else { return [reads, primary] }
        let candidates = servers.withLock { $0.candidates }
        return (candidates.isEmpty ? [] : [reads.narrowed(to: candidates)]) + [primary]
    }

    /// The state of each server.
    var report: [ReadServers.Report] { servers.withLock { $0.report } }

    /// What to do with a connection to that host and port.
    func fate(of target: (host: String, port: String), now: Duration) -> ConnectionPool.Fate {
        endpoints.isEmpty ? .keep : servers.withLock { $0.fate(of: target, now: now) }
    }

    /// Takes the result of a probe; returns the server's new condition where that has changed.
    func update(_ index: Int, _ result: ReadServers.ProbeResult, now: Duration) -> ReadServers.Condition? {
        servers.withLock { $0.update(index, result, now: now) }
    }

    /// Notes whether the server of `DATABASE_URL` responds.
    func update(isPrimaryResponding: Bool) {
        servers.withLock { $0.isPrimaryResponding = isPrimaryResponding }
    }
}

/// A loop's connections for reads; they follow a `ReadRoute` where there is one. Confined to its loop.
final class ReadConnections {
    let pool: ConnectionPool
    private var timer: LoopTimer?
    /// When connections may next move to a better server.
    private var nextMove = Duration.zero

    /// How often one connection of each lane may move back to a better server. Connections leave an unusable server sooner.
    private static let moveInterval = Duration.seconds(1)

    /// Starts connecting.
    ///
    /// - Parameter observe: called on the loop with what happens to connections.
    init(
        _ configuration: DatabaseConfiguration, route: ReadRoute?, loop: EventLoop,
        observe: @escaping (PoolObservation) -> Void = { _ in }
    ) {
        guard let route else {
            pool = ConnectionPool(
                configuration.postgres, options: configuration.pool, loop: loop, observe: observe)
            return
        }
        let pool = ConnectionPool(
            route: { route.configurations }, options: configuration.pool, loop: loop, observe: observe)
        self.pool = pool
        timer = LoopTimer(loop: loop) { [weak self] in self?.review(route) }
        timer?.start(after: route.silenceLimit / 2, repeating: route.silenceLimit / 2)
    }

    private func review(_ route: ReadRoute) {
        let now = pool.loop.now
        let mayMove = now >= nextMove
        if mayMove { nextMove = now + Self.moveInterval }
        pool.review {
            let fate = route.fate(of: $0, now: now)
            return fate == .move && !mayMove ? .keep : fate
        }
    }

    /// Closes the connections.
    func close() async {
        timer?.close()
        timer = nil
        await pool.close()
    }
}

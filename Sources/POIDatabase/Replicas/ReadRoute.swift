import EventLoop
import Locking
import Postgres

/// Where reads go: shared by the pools of a process, kept up to date by one `ReplicaMonitor`.
///
/// Any thread.
public final class ReadRoute: Sendable {
    /// The servers that are looked at, in the order of `POI_READ_DATABASE_URL`.
    let endpoints: [PostgresEndpoint]
    private let reads: PostgresConfiguration
    private let primary: PostgresConfiguration
    private let servers: Lock<ReadServers>
    private let isWatched = Lock(false)
    /// How long a server may be silent before reads leave it: so short that a read that it has can still be run elsewhere
    /// in its request's time, and no shorter than what a busy server may take.
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

    /// Whether the caller is the first, and has to keep this up to date.
    func claimWatch() -> Bool { isWatched.claim() }

    /// How to connect to one of the servers and no other.
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

    /// Takes whether `DATABASE_URL` responds.
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

    /// How often one of each lane may move to a better server that is back. A server that is no longer usable is left sooner.
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

import Locking
import EventLoop
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

    /// Nil where reads have no address of their own.
    public init?(_ configuration: DatabaseConfiguration) {
        guard let reads = configuration.reads else { return nil }
        self.reads = reads
        primary = configuration.postgres
        endpoints = reads.endpoints
        servers = Lock(
            ReadServers(
                endpoints, prefersStandbys: reads.prefersStandbys, maximumLag: configuration.maxReplicaLag))
    }

    /// Whether the caller is the first, and is to keep this up to date.
    func claimWatch() -> Bool { isWatched.claim() }

    /// How to reach one of the servers and no other.
    func probe(_ endpoint: PostgresEndpoint) -> PostgresConfiguration {
        reads.probing(endpoint)
    }

    /// What a new connection tries, in order: the servers for reads that may have them, then `DATABASE_URL`.
    var configurations: [PostgresConfiguration] {
        // Without a host in the string, libpq's defaults decide, and there is nothing to choose among.
        guard !endpoints.isEmpty else { return [reads, primary] }
        let candidates = servers.withLock { $0.candidates }
        return (candidates.isEmpty ? [] : [reads.narrowed(to: candidates)]) + [primary]
    }

    /// The state of each server.
    var report: [ReadServers.Report] { servers.withLock { $0.report } }

    /// What becomes of a connection to that host and port.
    func fate(of target: (host: String, port: String), now: Duration) -> ConnectionPool.Fate {
        endpoints.isEmpty ? .keep : servers.withLock { $0.fate(of: target, now: now) }
    }

    /// Takes what was seen of a server; answers its new condition where that has changed.
    func update(_ index: Int, _ sighting: ReadServers.Sighting, now: Duration) -> ReadServers.Condition? {
        servers.withLock { $0.update(index, sighting, now: now) }
    }

    /// Takes whether `DATABASE_URL` answers.
    func update(isPrimaryAnswering: Bool) {
        servers.withLock { $0.isPrimaryAnswering = isPrimaryAnswering }
    }
}

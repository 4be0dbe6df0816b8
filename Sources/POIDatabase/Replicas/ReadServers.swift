import Postgres

/// The servers that reads may go to, and the condition of each. Decides where connections go.
///
/// A value. A server that lags too far gets no reads; one that is silent gets none while another responds.
/// Standbys come before primaries where the connection string prefers them.
struct ReadServers {
    /// How a server is doing.
    enum Condition: Hashable {
        /// It hasn't been probed yet.
        case unknown
        /// It responds and doesn't lag too far; this has been so since the time `since`.
        case usable(isStandby: Bool, since: Duration)
        /// It is too far behind.
        case lagging
        /// It doesn't respond.
        case silent
    }

    /// The result of a probe of a server.
    enum ProbeResult {
        /// It is a primary.
        case primary
        /// It is a standby, which is behind the primary by `lag`.
        case standby(lag: Duration)
        /// It did not respond.
        case noResponse
    }

    private struct Server {
        let endpoint: PostgresEndpoint
        var condition = Condition.unknown
        /// The last lag of a standby; nil for anything else.
        var lag: Duration?
    }

    /// A server's state, for the metrics.
    struct Report {
        let name: String
        let isUsable: Bool
        let lag: Duration?
    }

    private var servers: [Server]
    private let prefersStandbys: Bool
    private let maximumLag: Duration
    /// Whether the primary responds. Reads go to it if none of these servers can take them.
    var isPrimaryResponding = false

    /// How long a server has to be usable before connections move back to it.
    static let settlingTime = Duration.seconds(5)

    init(_ endpoints: [PostgresEndpoint], prefersStandbys: Bool, maximumLag: Duration) {
        servers = endpoints.map { Server(endpoint: $0) }
        self.prefersStandbys = prefersStandbys
        self.maximumLag = maximumLag
    }

    /// Takes the result of a probe; returns the server's new condition where that is of another kind than before.
    mutating func update(_ index: Int, _ result: ProbeResult, now: Duration) -> Condition? {
        let old = servers[index].condition
        let new = condition(after: old, result, now: now)
        servers[index].condition = new
        servers[index].lag = if case .standby(let lag) = result { lag } else { nil }
        switch (old, new) {
        case (.usable(let was, _), .usable(let isStandby, _)): return was == isStandby ? nil : new
        default: return old == new ? nil : new
        }
    }

    private func condition(after old: Condition, _ result: ProbeResult, now: Duration) -> Condition {
        let isStandby: Bool
        switch result {
        case .noResponse: return .silent
        case .primary: isStandby = false
        case .standby(let lag):
            // A server that lagged becomes usable only when it has caught up well; otherwise its condition would change again
            // and again.
            if lag > (old == .lagging ? maximumLag / 2 : maximumLag) { return .lagging }
            isStandby = true
        }
        if case .usable(isStandby, _) = old { return old }
        return .usable(isStandby: isStandby, since: now)
    }

    /// The state of each.
    var report: [Report] {
        servers.map { server in
            let isUsable = if case .usable = server.condition { true } else { false }
            return Report(name: server.endpoint.description, isUsable: isUsable, lag: server.lag)
        }
    }

    /// The servers that a new connection may be made to; none where reads have to go to the primary.
    var candidates: [PostgresEndpoint] {
        let responding = servers.filter { $0.condition != .lagging && $0.condition != .silent }
        let possible = responding.isEmpty ? servers.filter { $0.condition == .silent } : responding
        return possible.map(\.endpoint)
    }

    /// What to do with a connection to that host and port.
    func fate(of target: (host: String, port: String), now: Duration) -> ConnectionPool.Fate {
        guard let server = servers.first(where: { $0.endpoint.isReached(at: target) }) else {
            return hasBetter(now: now) ? .move : .keep
        }
        switch server.condition {
        case .unknown: return .keep
        case .lagging: return .leave
        case .silent: return isAnotherResponding ? .abandon : .keep
        case .usable(let isStandby, _):
            return isStandby || !prefersStandbys || !hasBetter(now: now) ? .keep : .move
        }
    }

    private var isAnotherResponding: Bool {
        isPrimaryResponding || servers.contains { if case .usable = $0.condition { true } else { false } }
    }

    /// Whether there is a server of the preferred kind that has settled.
    private func hasBetter(now: Duration) -> Bool {
        servers.contains {
            guard case .usable(let isStandby, let since) = $0.condition else { return false }
            return (isStandby || !prefersStandbys) && now - since >= Self.settlingTime
        }
    }
}

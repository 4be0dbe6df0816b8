import Postgres

/// The servers that reads may go to, what is known of each, and what follows from it.
///
/// A value. A server that lags too far gets no reads; one that is silent gets none while another answers.
/// Standbys go before primaries where the connection string prefers them.
struct ReadServers {
    /// How a server is doing.
    enum Condition: Hashable {
        /// It hasn't been asked yet.
        case unknown
        /// It answers, and has what it should, without a break since that time.
        case usable(isStandby: Bool, since: Duration)
        /// It is too far behind.
        case lagging
        /// It doesn't answer.
        case silent
    }

    /// What was seen of a server.
    enum Sighting {
        /// It is a primary.
        case primary
        /// It is a standby, so far behind.
        case standby(lag: Duration)
        /// It could not be asked.
        case silence
    }

    private struct Server {
        let endpoint: PostgresEndpoint
        var condition = Condition.unknown
        /// What was seen last of a standby; nil of anything else.
        var lag: Duration?
    }

    /// A server's state, to be measured.
    struct Report {
        let name: String
        let isUsable: Bool
        let lag: Duration?
    }

    private var servers: [Server]
    private let prefersStandbys: Bool
    private let maximumLag: Duration
    /// Whether the database answers that reads go to where none of these can take them.
    var isPrimaryAnswering = false

    /// For so long a server has to be usable before connections come back to it from elsewhere.
    static let settlingTime = Duration.seconds(5)

    init(_ endpoints: [PostgresEndpoint], prefersStandbys: Bool, maximumLag: Duration) {
        servers = endpoints.map { Server(endpoint: $0) }
        self.prefersStandbys = prefersStandbys
        self.maximumLag = maximumLag
    }

    /// Takes what was seen of a server; answers its new condition where that is another kind than before.
    mutating func update(_ index: Int, _ sighting: Sighting, now: Duration) -> Condition? {
        let old = servers[index].condition
        let new = condition(after: old, sighting, now: now)
        servers[index].condition = new
        servers[index].lag = if case .standby(let lag) = sighting { lag } else { nil }
        switch (old, new) {
        case (.usable(let was, _), .usable(let isStandby, _)): return was == isStandby ? nil : new
        default: return old == new ? nil : new
        }
    }

    private func condition(after old: Condition, _ sighting: Sighting, now: Duration) -> Condition {
        let isStandby: Bool
        switch sighting {
        case .silence: return .silent
        case .primary: isStandby = false
        case .standby(let lag):
            // Who was left out comes back only when it has caught up well, lest it go to and fro.
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

    /// Where a new connection may be made; none where reads have to go elsewhere.
    var candidates: [PostgresEndpoint] {
        let answering = servers.filter { $0.condition != .lagging && $0.condition != .silent }
        let possible = answering.isEmpty ? servers.filter { $0.condition == .silent } : answering
        return possible.map(\.endpoint)
    }

    /// What becomes of a connection to that host and port.
    func fate(of target: (host: String, port: String), now: Duration) -> ConnectionPool.Fate {
        guard let server = servers.first(where: { $0.endpoint.isReached(at: target) }) else {
            return hasBetter(now: now) ? .move : .keep
        }
        switch server.condition {
        case .unknown: return .keep
        case .lagging: return .leave
        case .silent: return isAnotherAnswering ? .abandon : .keep
        case .usable(let isStandby, _):
            return isStandby || !prefersStandbys || !hasBetter(now: now) ? .keep : .move
        }
    }

    private var isAnotherAnswering: Bool {
        isPrimaryAnswering || servers.contains { if case .usable = $0.condition { true } else { false } }
    }

    /// Whether there is a server of the preferred kind that has settled.
    private func hasBetter(now: Duration) -> Bool {
        servers.contains {
            guard case .usable(let isStandby, let since) = $0.condition else { return false }
            return (isStandby || !prefersStandbys) && now - since >= Self.settlingTime
        }
    }
}

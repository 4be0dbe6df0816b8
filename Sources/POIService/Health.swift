import EventLoop

/// Whether the process can take requests, as all loops see it.
///
/// Any thread. The database's state decides only where it is told to, so that one blip of the database
/// doesn't empty the load balancer.
public final class Health: Sendable {
    /// The state at one moment.
    public struct Report: Hashable, Sendable {
        /// Why the process can't take requests; nil where it can.
        public let notReadyReason: String?
        /// Whether the database answered when it was asked last.
        public let isDatabaseReachable: Bool
        /// Whether the process was told to end.
        public let isDraining: Bool
    }

    private struct State {
        var isDraining = false
        /// Nil until the store has been asked once.
        var isDatabaseReachable: Bool?
        /// Nil until the store has told once.
        var missingMigrations: [String]?
    }

    private let state = Lock(State())
    private let requiresDatabase: Bool

    /// Starts as not ready.
    public init(requiresDatabase: Bool) {
        self.requiresDatabase = requiresDatabase
    }

    /// Takes note of what a store says of itself; answers what has changed by it.
    public func update(_ health: StoreHealth) -> [Observation] {
        state.withLock { state in
            switch health {
            case .unreachable(let reason):
                let isNews = state.isDatabaseReachable != false
                state.isDatabaseReachable = false
                return isNews ? [.databaseUnreachable(reason: reason)] : []
            case .reachable(let missing):
                var news: [Observation] = state.isDatabaseReachable == true ? [] : [.databaseReachable]
                if state.missingMigrations != missing {
                    news.append(missing.isEmpty ? .migrationsApplied : .migrationsMissing(missing))
                }
                state.isDatabaseReachable = true
                state.missingMigrations = missing
                return news
            }
        }
    }

    /// From now on the process takes no new requests.
    public func drain() {
        state.withLock { $0.isDraining = true }
    }

    /// The state now.
    public var report: Report {
        state.withLock { state in
            let reason: String? =
                if state.isDraining {
                    "The service is shutting down."
                } else if state.missingMigrations == nil {
                    "The service is starting: the database has not answered yet."
                } else if state.missingMigrations?.isEmpty == false {
                    "The database lacks migrations that this version relies on."
                } else if requiresDatabase && state.isDatabaseReachable != true {
                    "The database does not answer."
                } else {
                    nil
                }
            return Report(
                notReadyReason: reason, isDatabaseReachable: state.isDatabaseReachable == true,
                isDraining: state.isDraining)
        }
    }
}

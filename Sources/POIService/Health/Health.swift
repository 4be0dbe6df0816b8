import EventLoop
import Locking

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
        /// Whether the events' database answered when it was asked last; nil where it is the places' own, or hasn't
        /// been asked. It doesn't decide whether the process can take requests: reads do without it.
        public var isEventsDatabaseReachable: Bool?
    }

    private struct State {
        var isDraining = false
        /// Nil until the store has been asked once.
        var isDatabaseReachable: Bool?
        /// Nil until the store of events has told once, if it ever does.
        var isEventsDatabaseReachable: Bool?
        /// Nil until the store has told once.
        var missingMigrations: [String]?
        /// Those that this binary is too old for; then nothing is known of missing ones.
        var migrationsBeyond: [String] = []
    }

    private let state = Lock(State())
    private let requiresDatabase: Bool
    private let loops: [LoopPulse]
    private let stuckAfter: Duration

    /// Starts as not ready.
    ///
    /// - Parameters:
    ///   - loops: the loops that serve requests: one that doesn't turn leaves its connections without responses.
    ///   - stuckAfter: how long a loop may not turn until it counts as stuck.
    package init(
        requiresDatabase: Bool, loops: [LoopPulse] = [], stuckAfter: Duration = .seconds(10)
    ) {
        self.requiresDatabase = requiresDatabase
        self.loops = loops
        self.stuckAfter = stuckAfter
    }

    /// What is known of a loop that serves requests.
    struct LoopReport {
        let name: String
        /// How long it hasn't turned; half a second where all is well.
        let secondsSinceTurn: Double
        let isStuck: Bool
    }

    /// How long each loop hasn't turned.
    var loopReports: [LoopReport] {
        loops.map { loop in
            let age = loop.age
            return LoopReport(
                name: loop.name, secondsSinceTurn: age.secondsToMilliseconds, isStuck: age > stuckAfter)
        }
    }

    /// Whether all loops have turned within a time, or within the time until one counts as stuck if that is longer.
    func allLoopsTurn(within time: Duration) -> Bool {
        loops.allSatisfy { $0.age <= max(time, stuckAfter) }
    }

    /// Takes note of what a store says of itself; answers what has changed by it.
    public func update(_ health: StoreHealth) -> [Observation] {
        state.withLock { state in
            switch health {
            case .unreachable(let reason):
                let isNews = state.isDatabaseReachable != false
                state.isDatabaseReachable = false
                return isNews ? [.databaseUnreachable(.places, reason: reason)] : []
            case .reachable(let missing):
                var news: [Observation] =
                    state.isDatabaseReachable == true ? [] : [.databaseReachable(.places)]
                if state.missingMigrations != missing {
                    news.append(missing.isEmpty ? .migrationsApplied : .migrationsMissing(missing))
                }
                state.isDatabaseReachable = true
                state.missingMigrations = missing
                state.migrationsBeyond = []
                return news
            case .outdated(let beyond):
                var news: [Observation] =
                    state.isDatabaseReachable == true ? [] : [.databaseReachable(.places)]
                if state.migrationsBeyond != beyond { news.append(.programOutdated(beyond)) }
                state.isDatabaseReachable = true
                state.missingMigrations = nil
                state.migrationsBeyond = beyond
                return news
            }
        }
    }

    /// Takes note of what a store of events says of itself; answers what has changed by it.
    public func updateEvents(_ health: StoreHealth) -> [Observation] {
        state.withLock { state in
            let wasReachable = state.isEventsDatabaseReachable
            switch health {
            case .unreachable(let reason):
                state.isEventsDatabaseReachable = false
                return wasReachable == false ? [] : [.databaseUnreachable(.events, reason: reason)]
            case .reachable, .outdated:
                state.isEventsDatabaseReachable = true
                return wasReachable == true ? [] : [.databaseReachable(.events)]
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
                } else if loops.contains(where: { $0.age > stuckAfter }) {
                    "An event loop of the service is stuck."
                } else if !state.migrationsBeyond.isEmpty {
                    "The database's schema needs a newer version of the service."
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
                isDraining: state.isDraining, isEventsDatabaseReachable: state.isEventsDatabaseReachable)
        }
    }
}

extension Duration {
    /// Seconds with three decimals.
    fileprivate var secondsToMilliseconds: Double {
        Double(components.seconds) + Double(components.attoseconds / 1_000_000_000_000_000) / 1000
    }
}

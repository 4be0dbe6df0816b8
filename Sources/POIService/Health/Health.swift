import EventLoop
import Locking
import Places
import Synchronization
import Telemetry

/// Whether the process can serve requests. Any thread. A process needs the database, or places on disk, once. After that,
/// whether the database can be reached matters only if that is configured: otherwise every server would leave the load balancer
/// when the database is away for a moment.
package final class Health: Sendable {
    package struct Report: Hashable, Sendable {
        /// Why the process isn't ready; nil if it is.
        package let notReadyReason: String?
        /// Whether the last check reached the database.
        package let isDatabaseReachable: Bool
        package let isDraining: Bool
        /// Whether the last check reached the events' database; nil if that is the places' database too, or wasn't
        /// checked yet. The process may be ready without it: places are served without it.
        package var isEventsDatabaseReachable: Bool?
    }

    private struct State {
        var isDraining = false
        /// Nil until the first check.
        var isDatabaseReachable: Bool?
        /// Nil until the first check, and if events have no database of their own.
        var isEventsDatabaseReachable: Bool?
        /// Why there are no places in memory yet; nil where the process needs none, or has had some.
        var missingPlaces: String?
        /// Whether places are served without the database: what is missing in it keeps nobody from that.
        var servesKept = false
        /// Migrations that this program needs and that aren't applied; nil while that isn't known.
        var missingMigrations: [String]?
    }

    private let state = Lock(State())
    private let requiresDatabase: Bool
    private let loops: [LoopPulse]
    private let stuckAfter: Duration

    /// - Parameter stuckAfter: the time without a turn after which a loop counts as stuck; then the process isn't ready.
    package init(requiresDatabase: Bool, loops: [LoopPulse] = [], stuckAfter: Duration = .seconds(10)) {
        self.requiresDatabase = requiresDatabase
        self.loops = loops
        self.stuckAfter = stuckAfter
    }

    struct LoopReport {
        let name: String
        /// The time since the loop's last beat, up to half a second in a healthy loop.
        let secondsSinceTurn: Double
        let isStuck: Bool
    }

    var loopReports: [LoopReport] {
        loops.map { loop in
            let age = loop.age
            return LoopReport(
                name: loop.name, secondsSinceTurn: age.secondsToMilliseconds, isStuck: age > stuckAfter)
        }
    }

    /// Whether all loops have turned within `time`, or within `stuckAfter` if that is longer.
    func allLoopsTurn(within time: Duration) -> Bool {
        loops.allSatisfy { $0.age <= max(time, stuckAfter) }
    }

    /// Records the result of a check of the places' database, and returns what is new.
    package func update(_ health: StoreHealth) -> [Observation] {
        state.withLock { state in
            var news = Self.update(&state.isDatabaseReachable, of: .places, health)
            if case .kept = health { state.servesKept = true } else { state.servesKept = false }
            switch health {
            case .unreachable: break
            case .kept: state.missingPlaces = nil
            case .stale:
                state.missingPlaces =
                    "The database cannot be reached, and the places are older than "
                    + "POI_INDEX_MAX_STALENESS allows."
            case .loading:
                state.missingPlaces = "The service is starting: it is reading the places into memory."
            case .tooLarge:
                state.missingPlaces = "The places take more memory than POI_INDEX_MAX_MEMORY allows."
            case .reachable(let missing):
                if state.missingMigrations != missing {
                    news.append(missing.isEmpty ? .migrationsApplied : .migrationsMissing(missing))
                }
                state.missingMigrations = missing
                state.missingPlaces = nil
            }
            return news
        }
    }

    /// Records the result of a check of the events' database, and returns what is new.
    package func updateEvents(_ health: StoreHealth) -> [Observation] {
        state.withLock { Self.update(&$0.isEventsDatabaseReachable, of: .events, health) }
    }

    private static func update(
        _ isReachable: inout Bool?, of database: DatabaseName, _ health: StoreHealth
    ) -> [Observation] {
        let wasReachable = isReachable
        switch health {
        case .unreachable(let reason), .stale(let reason), .kept(let reason?):
            isReachable = false
            return wasReachable == false ? [] : [.databaseUnreachable(database, reason: reason)]
        case .kept(nil): return []
        case .loading, .tooLarge, .reachable:
            isReachable = true
            return wasReachable == true ? [] : [.databaseReachable(database)]
        }
    }

    package func drain() { state.withLock { $0.isDraining = true } }

    package var report: Report {
        state.withLock { state in
            let reason: String? =
                if state.isDraining {
                    "The service is shutting down."
                } else if loops.contains(where: { $0.age > stuckAfter }) {
                    "An event loop of the service is stuck."
                } else if let missingPlaces = state.missingPlaces {
                    missingPlaces
                } else if !state.servesKept && state.missingMigrations == nil {
                    "The service is starting: it has not reached the database yet."
                } else if !state.servesKept && state.missingMigrations?.isEmpty == false {
                    "The database lacks migrations that this version needs."
                } else if requiresDatabase && state.isDatabaseReachable != true {
                    "The database cannot be reached."
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
    fileprivate var secondsToMilliseconds: Double {
        Double(components.seconds) + Double(components.attoseconds / 1_000_000_000_000_000) / 1000
    }
}

/// When an event loop has last turned. The loop writes it, and the threads that watch the loop read it. Any thread.
package final class LoopPulse: Sendable {
    package let name: String
    private let lastNanoseconds = Atomic(MonotonicClock.nanoseconds())

    package init(name: String) { self.name = name }

    func beat() {
        lastNanoseconds.store(MonotonicClock.nanoseconds(), ordering: .relaxed)
    }

    /// The time since the last beat: in a healthy loop, up to the interval of `EventLoopLag`.
    var age: Duration {
        .nanoseconds(max(0, MonotonicClock.nanoseconds() - lastNanoseconds.load(ordering: .relaxed)))
    }
}

/// Measures how late a loop's timers fire, which is how long everything else that is ready waits, and sends the loop's
/// beats. Confined to its loop.
final class EventLoopLag {
    private(set) var durations = Histogram(
        bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5])
    private var timer: LoopTimer?
    private let pulse: LoopPulse
    private var lastNanoseconds = MonotonicClock.nanoseconds()

    private static let interval = Duration.milliseconds(500)
    private static let intervalSeconds = 0.5

    init(loop: EventLoop, pulse: LoopPulse) {
        self.pulse = pulse
        timer = LoopTimer(loop: loop) { [weak self] in self?.timerFired() }
        timer?.start(after: Self.interval)
    }

    func close() {
        timer?.close()
        timer = nil
    }

    private func timerFired() {
        pulse.beat()
        let now = MonotonicClock.nanoseconds()
        durations.record(max(0, Double(now - lastNanoseconds) * 1e-9 - Self.intervalSeconds))
        lastNanoseconds = now
        timer?.start(after: Self.interval)
    }
}

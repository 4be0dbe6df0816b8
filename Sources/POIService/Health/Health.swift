import EventLoop
import Locking
import Places
import Synchronization
import Telemetry

/// Whether the process can serve requests.
///
/// Any thread. A process has to reach the database once. After that, whether the database can be reached matters only
/// if that is configured: otherwise every server would leave the load balancer when the database is away for a moment.
public final class Health: Sendable {
    /// The state at one moment.
    public struct Report: Hashable, Sendable {
        /// Why the process isn't ready; nil if it is.
        public let notReadyReason: String?
        /// Whether the last check reached the database.
        public let isDatabaseReachable: Bool
        /// Whether the process was told to end.
        public let isDraining: Bool
        /// Whether the last check reached the events' database; nil if that is the places' database too, or wasn't
        /// checked yet. The process may be ready without it: places are served without it.
        public var isEventsDatabaseReachable: Bool?
    }

    private struct State {
        var isDraining = false
        /// Nil until the first check.
        var isDatabaseReachable: Bool?
        /// Nil until the first check, and if events have no database of their own.
        var isEventsDatabaseReachable: Bool?
        /// Whether the places are still being read into memory. The process isn't ready without them.
        var isLoading = false
        /// Migrations that this program needs and that aren't applied; nil while that isn't known.
        var missingMigrations: [String]?
    }

    private let state = Lock(State())
    private let requiresDatabase: Bool
    private let loops: [LoopPulse]
    private let stuckAfter: Duration

    /// Makes a health that isn't ready.
    ///
    /// - Parameters:
    ///   - loops: the loops that serve requests. The process isn't ready while one of them is stuck.
    ///   - stuckAfter: the time without a turn after which a loop counts as stuck.
    package init(
        requiresDatabase: Bool, loops: [LoopPulse] = [], stuckAfter: Duration = .seconds(10)
    ) {
        self.requiresDatabase = requiresDatabase
        self.loops = loops
        self.stuckAfter = stuckAfter
    }

    /// The state of a loop that serves requests.
    struct LoopReport {
        let name: String
        /// The time since the loop's last beat, up to half a second in a healthy loop.
        let secondsSinceTurn: Double
        let isStuck: Bool
    }

    /// The states of all loops.
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
    public func update(_ health: StoreHealth) -> [Observation] {
        state.withLock { state in
            var news = Self.update(&state.isDatabaseReachable, of: .places, health)
            switch health {
            case .unreachable: break
            case .loading: state.isLoading = true
            case .reachable(let missing):
                if state.missingMigrations != missing {
                    news.append(missing.isEmpty ? .migrationsApplied : .migrationsMissing(missing))
                }
                state.missingMigrations = missing
                state.isLoading = false
            }
            return news
        }
    }

    /// Records the result of a check of the events' database, and returns what is new.
    public func updateEvents(_ health: StoreHealth) -> [Observation] {
        state.withLock { Self.update(&$0.isEventsDatabaseReachable, of: .events, health) }
    }

    private static func update(
        _ isReachable: inout Bool?, of database: DatabaseName, _ health: StoreHealth
    ) -> [Observation] {
        let wasReachable = isReachable
        if case .unreachable(let reason) = health {
            isReachable = false
            return wasReachable == false ? [] : [.databaseUnreachable(database, reason: reason)]
        }
        isReachable = true
        return wasReachable == true ? [] : [.databaseReachable(database)]
    }

    /// From now on the process isn't ready.
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
                } else if state.isLoading {
                    "The service is starting: it is reading the places into memory."
                } else if state.missingMigrations == nil {
                    "The service is starting: it has not reached the database yet."
                } else if state.missingMigrations?.isEmpty == false {
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
    /// Seconds with three decimals.
    fileprivate var secondsToMilliseconds: Double {
        Double(components.seconds) + Double(components.attoseconds / 1_000_000_000_000_000) / 1000
    }
}

/// When an event loop has last turned. The loop writes it, and the threads that watch the loop read it.
///
/// Any thread.
package final class LoopPulse: Sendable {
    /// The loop's name in metrics.
    package let name: String
    private let lastNanoseconds = Atomic(MonotonicClock.nanoseconds())

    /// Starts with a beat now.
    package init(name: String) {
        self.name = name
    }

    /// Records that the loop turns.
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

    /// Starts measuring.
    init(loop: EventLoop, pulse: LoopPulse) {
        self.pulse = pulse
        timer = LoopTimer(loop: loop) { [weak self] in self?.timerFired() }
        timer?.start(after: Self.interval)
    }

    /// Stops measuring.
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

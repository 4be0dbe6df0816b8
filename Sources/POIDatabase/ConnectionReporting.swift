import Locking
import EventLoop
import Postgres
import Telemetry

/// Logs why a database can't be reached, for all pools of a process that lead to it.
///
/// Each connection of a pool tries again and again. So a cause is logged only when it differs from the last one, and at
/// most once a minute; the metrics count every failure. Any thread.
package final class ConnectionLog: Sendable {
    private let database: DatabaseName
    private let record: @Sendable (Observation) -> Void
    private let state = Lock(State())

    private struct State {
        var (failures, losses, notices) = (CauseFilter(), CauseFilter(), CauseFilter())
    }

    /// Logs for one database.
    package init(_ database: DatabaseName, record: @escaping @Sendable (Observation) -> Void) {
        self.database = database
        self.record = record
    }

    /// Takes what has happened to a pool's connections.
    func observe(_ observation: PoolObservation) { observe(observation, at: .now) }

    /// Takes what has happened at a time.
    func observe(_ observation: PoolObservation, at now: ContinuousClock.Instant) {
        switch observation {
        case .connected:
            state.withLock { state in
                state.failures.endCause()
                state.losses.endCause()
            }
        case .connectFailed(let error):
            let kind = (error.connectFailure ?? .other).rawValue
            guard state.withLock({ $0.failures.isNews(kind, at: now) }) else { return }
            record(.databaseConnectFailed(database, kind: kind, reason: error.connectionLogText))
        case .connectionLost(let error):
            guard state.withLock({ $0.losses.isNews(error.description, at: now) }) else { return }
            record(.databaseConnectionLost(database, reason: error.connectionLogText))
        case .notice(let report):
            guard state.withLock({ $0.notices.isNews(report.sqlState.rawValue, at: now) }) else { return }
            record(.databaseNotice(database, text(of: report)))
        }
    }

    /// The text of a notice without what may be personal: one about events could quote an event, and one about places a
    /// position.
    private func text(of report: PostgresServerReport) -> String {
        let head = "\(report.severity) (SQLSTATE \(report.sqlState))"
        return database == .events ? head : "\(head): \(report.message.redactingNumbers)"
    }
}

/// Which causes are to be logged: one that differs from the last, and each at most once a minute.
struct CauseFilter {
    private var last: String?
    private var reasons = ReasonFilter()

    mutating func isNews(_ cause: String, at now: ContinuousClock.Instant) -> Bool {
        guard cause != last else { return false }
        last = cause
        return reasons.isDue(cause, at: now)
    }

    /// Notes that connections work again: after that, the same cause counts as new.
    mutating func endCause() {
        last = nil
    }
}

extension MetricsSnapshot {
    /// Adds the state of a loop's connections to a database.
    mutating func add(_ pool: PoolStatistics, to database: DatabaseName) {
        let label = database.rawValue
        let idle = pool.connections - pool.busyConnections
        for (count, state) in [
            (idle, "idle"), (pool.busyConnections, "busy"), (pool.missingConnections, "missing"),
        ] {
            add(count, to: DatabaseMetrics.connections, label, state)
        }
        add(pool.waiting, to: DatabaseMetrics.waiting, label)
        add(pool.timedOutAcquires, to: DatabaseMetrics.acquireTimeouts, label)
        add(pool.refusedAcquires, to: DatabaseMetrics.acquireRefusals, label)
        add(pool.lostConnections, to: DatabaseMetrics.connectionsLost, label)
        add(pool.timedOutQueries, to: DatabaseMetrics.queryTimeouts, label)
        // Zeros are added, too, so that a rate shows the first failure and not only the second one.
        for reason in ConnectFailure.allCases {
            add(
                pool.connectFailures[reason] ?? 0, to: DatabaseMetrics.connectFailures, label, reason.rawValue
            )
        }
    }
}

import Locking
import EventLoop
import POIService
import Postgres

/// Logs why a database can't be reached, for all pools of a process that lead to it.
///
/// Pools try again and again, each connection for itself, so a cause is logged when it differs from the last one, and
/// the same cause once a minute at most; the metrics count every failure. Any thread.
public final class ConnectionLog: Sendable {
    private let database: DatabaseName
    private let record: @Sendable (Observation) -> Void
    private let state = Lock(State())

    private struct State {
        var (failures, losses, notices) = (CauseFilter(), CauseFilter(), CauseFilter())
    }

    /// - Parameter record: gets what is worth a line.
    public init(_ database: DatabaseName, record: @escaping @Sendable (Observation) -> Void) {
        self.database = database
        self.record = record
    }

    /// Takes what a pool has to tell.
    func observe(_ observation: PoolObservation) {
        let now = ContinuousClock.now
        switch observation {
        case .connected:
            state.withLock { state in
                state.failures.endCause()
                state.losses.endCause()
            }
        case .connectFailed(_, let error):
            let kind = (error.connectFailure ?? .other).rawValue
            guard state.withLock({ $0.failures.isNews(kind, at: now) }) else { return }
            record(.databaseConnectFailed(database, kind: kind, reason: error.connectionLogText))
        case .connectionLost(_, let error):
            guard state.withLock({ $0.losses.isNews(error.description, at: now) }) else { return }
            record(.databaseConnectionLost(database, reason: error.connectionLogText))
        case .notice(let report):
            guard state.withLock({ $0.notices.isNews(report.sqlState.rawValue, at: now) }) else { return }
            record(.databaseNotice(database, text(of: report)))
        }
    }

    /// Notices for events could quote one, and those for places a position.
    private func text(of report: PostgresServerReport) -> String {
        let head = "\(report.severity) (SQLSTATE \(report.sqlState))"
        return database == .events ? head : "\(head): \(report.message.redactingNumbers)"
    }
}

/// Which causes are news: one that differs from the last, and each once a minute at most.
struct CauseFilter {
    private var last: String?
    private var toldAt: [String: ContinuousClock.Instant] = [:]

    private static let interval = Duration.seconds(60)
    /// So many causes are remembered.
    private static let limit = 100

    /// Whether a cause is to be told now.
    mutating func isNews(_ cause: String, at now: ContinuousClock.Instant) -> Bool {
        guard cause != last else { return false }
        last = cause
        if let time = toldAt[cause], now - time < Self.interval { return false }
        if toldAt.count >= Self.limit { toldAt = [:] }
        toldAt[cause] = now
        return true
    }

    /// It works again: the same cause would be another one.
    mutating func endCause() {
        last = nil
    }
}

extension PostgresError {
    /// What libpq or the server said of a connection; nothing that belongs to a query.
    fileprivate var connectionLogText: String {
        let message = server.map(\.message.redactingNumbers) ?? clientMessage
        let words = message?.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return [description, words].compactMap(\.self).joined(separator: ": ")
    }
}

import POIService
import Postgres

extension EventStoreError {
    /// What a database's error means to who sends events.
    init(_ error: PostgresError) {
        switch error.code {
        case .busy: self = .busy
        // A statement that was ended, and a connection that was lost, may have committed before.
        case .unavailable, .connectionFailed, .connectionLost, .closed, .queryTimedOut, .cancelled:
            self = .unavailable(reason: error.eventLogText)
        case .server where error.isPassingForWriters: self = .unavailable(reason: error.eventLogText)
        default: self = .failed(reason: error.eventLogText)
        }
    }
}

extension PostgresError {
    /// What may be said of an error in a log: the server's own words might quote an event.
    var eventLogText: String {
        sqlState == nil ? logText : description
    }

    /// Whether it is for the data of one event, so that others would do without it (classes 21, 22 and 23 of the
    /// PostgreSQL manual's appendix A).
    var isOfData: Bool {
        guard code == .server, let state = sqlState?.rawValue else { return false }
        return ["21", "22", "23"].contains(state.prefix(2))
    }

    /// Whether the same write may succeed later: a standby, a conflict, no room, or an operator at work.
    fileprivate var isPassingForWriters: Bool {
        guard let state = sqlState?.rawValue else { return false }
        return state == "25006" || ["40", "53", "55", "57", "58"].contains(state.prefix(2))
    }
}

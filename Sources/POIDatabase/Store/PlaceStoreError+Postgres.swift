import POIService
import Postgres

extension PlaceStoreError {
    /// What a database's error means to who asked for places.
    ///
    /// - Parameter isOverdue: whether the request's time is up, whatever it has last waited for.
    init(_ error: PostgresError, isOverdue: Bool = false) {
        switch error.code {
        case .busy where isOverdue, .connectionLost where isOverdue: self = .timeout
        case .unavailable, .connectionFailed, .connectionLost, .closed:
            self = .unavailable(reason: error.logText)
        case .busy: self = .busy
        case .queryTimedOut: self = .timeout
        case .cancelled: self = .cancelled
        case .server where error.isPassing: self = .unavailable(reason: error.logText)
        default: self = .failed(reason: error.logText)
        }
    }
}

extension PostgresError {
    /// Whether the same statement may succeed soon: a standby has ended it for what it had to replay, or a
    /// restore isn't through.
    var isPassing: Bool { isReplayConflict || sqlState == .objectNotInPrerequisiteState }

    /// All that is known of the error, the server's own words included, but for the numbers in those: they may be
    /// somebody's position. Never for a client.
    var logText: String {
        let message = server.map(\.message.redactingNumbers) ?? clientMessage
        return [description, message].compactMap(\.self).joined(separator: ": ")
    }
}

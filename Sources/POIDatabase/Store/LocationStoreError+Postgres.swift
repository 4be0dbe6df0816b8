import POIService
import Postgres

extension LocationStoreError {
    /// What a database's error means to who asked for places.
    init(_ error: PostgresError) {
        switch error.code {
        case .unavailable, .connectionFailed, .connectionLost, .closed:
            self = .unavailable(reason: error.logText)
        case .busy: self = .busy
        case .queryTimedOut: self = .timeout
        case .cancelled: self = .cancelled
        default: self = .failed(reason: error.logText)
        }
    }
}

extension PostgresError {
    /// All that is known of the error, the server's own words included, but for the numbers in those: they may be
    /// somebody's position. Never for a client.
    var logText: String {
        let message = server.map(\.message.redactingNumbers) ?? clientMessage
        return [description, message].compactMap(\.self).joined(separator: ": ")
    }
}

import EventLoop
import Places
import Postgres
import Telemetry

extension PlaceStoreError {
    /// What an error of the database means to a request for places.
    ///
    /// - Parameter isOverdue: whether the request's time is up, whatever it waited for last.
    init(_ error: PostgresError, isOverdue: Bool = false) {
        switch error.code {
        case .busy where isOverdue: self = .timeout(.connection)
        case .connectionLost where isOverdue: self = .timeout(.query)
        case .unavailable, .connectionFailed, .connectionLost, .closed:
            self = .unavailable(reason: error.logText)
        case .busy: self = .busy
        case .queryTimedOut: self = .timeout(.query)
        case .cancelled: self = .cancelled
        // The same statement may succeed soon: a standby has ended it because of what it had to replay, or a restore isn't
        // finished.
        case .server where error.isReplayConflict || error.sqlState == .objectNotInPrerequisiteState:
            self = .unavailable(reason: error.logText)
        default: self = .failed(reason: error.logText)
        }
    }
}

extension EventStoreError {
    /// What an error of the database means to an app that sends events.
    init(_ error: PostgresError) {
        switch error.code {
        case .busy: self = .busy
        // A statement that was ended, or whose connection was lost, may have committed before that.
        case .unavailable, .connectionFailed, .connectionLost, .closed, .queryTimedOut, .cancelled:
            self = .unavailable(reason: error.eventLogText)
        case .server where error.mayPassForWriters: self = .unavailable(reason: error.eventLogText)
        default: self = .failed(reason: error.eventLogText)
        }
    }
}

/// Why a command on the database has failed; its description is one line.
package struct CommandError: Error, CustomStringConvertible {
    /// What went wrong.
    package let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Runs `body` with a session of its own.
    ///
    /// - Throws: `CommandError` instead of an error of the database; what `body` throws.
    static func withConnection<Value>(
        _ configuration: PostgresConfiguration, loop: EventLoop,
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        do {
            return try await PostgresConnection.withConnection(configuration, loop: loop, body)
        } catch let error as PostgresError {
            throw CommandError(error.serverMessage ?? error.description)
        }
    }
}

extension PostgresError {
    /// All that is known about the error, the server's own message included, without the numbers in it: they may be
    /// somebody's position. Never for a client.
    var logText: String {
        let message = server.map(\.message.redactingNumbers) ?? clientMessage
        return [description, message].compactMap(\.self).joined(separator: ": ")
    }

    /// What a log may say about an error of a statement with events: the server's own message might quote one.
    var eventLogText: String {
        sqlState == nil ? logText : description
    }

    /// What libpq or the server said about a connection, on one line; nothing that belongs to a query.
    var connectionLogText: String {
        let message = server.map(\.message.redactingNumbers) ?? clientMessage
        let words = message?.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return [description, words].compactMap(\.self).joined(separator: ": ")
    }

    /// Whether the data of one row caused it (classes 21, 22 and 23 of the PostgreSQL manual's appendix A).
    var isCausedByData: Bool {
        guard code == .server, let state = sqlState?.rawValue else { return false }
        return ["21", "22", "23"].contains(state.prefix(2))
    }

    /// Whether one event may have caused it, so that others can be written: its data, or what an operator's triggers say to it.
    var isCausedByEvents: Bool { code == .server && !mayPassForWriters }

    /// Whether the same write may succeed later: a standby, a conflict, no room, or an operator at work.
    var mayPassForWriters: Bool {
        guard let state = sqlState?.rawValue else { return false }
        return state == "25006" || ["40", "53", "55", "57", "58"].contains(state.prefix(2))
    }
}

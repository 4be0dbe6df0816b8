import HTTPServer
import PointsOfInterestAPI

/// Makes log lines of observations: JSON objects, or text for a terminal.
///
/// No line holds a query or a body, nor what else in a path could be somebody's position.
struct LogFormatter: Sendable {
    /// Whether lines are JSON.
    let isJSON: Bool
    /// How much of a client's address is in a request's line.
    var client = LoggedClient.full

    /// One line, its line feed included.
    func line(for observation: Observation, at time: Timestamp) -> [UInt8] {
        var line = isJSON ? jsonLine(observation, time) : textLine(observation, time)
        line.append(UInt8(ascii: "\n"))
        return line
    }

    private func jsonLine(_ observation: Observation, _ time: Timestamp) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("time", time.rfc3339)
        writer.member("level", observation.level)
        writer.member("event", observation.name)
        if case .request(let request) = observation {
            write(request, to: &writer)
        } else {
            writer.member("message", observation.message)
            write(factsOf: observation, to: &writer)
        }
        writer.endObject()
        return writer.bytes
    }

    /// What programs look for in a line, besides its message.
    private func write(factsOf observation: Observation, to writer: inout JSONWriter) {
        switch observation {
        case .failure(let requestID, let traceID, _):
            writer.member("requestId", requestID)
            writer.member("traceId", traceID)
        case .listening(let url), .adminListening(let url): writer.member("url", url)
        case .stopping(let signal, _): writer.member("signal", signal)
        case .databaseReachable(let database), .databaseUnreachable(let database, _),
            .databaseConnectionLost(let database, _), .databaseNotice(let database, _):
            writer.member("database", database.rawValue)
        case .databaseConnectFailed(let database, let kind, _):
            writer.member("database", database.rawValue)
            writer.member("reason", kind)
        default: break
        }
    }

    private func write(_ request: RequestObservation, to writer: inout JSONWriter) {
        writer.member("method", request.method?.rawValue)
        writer.member("path", request.loggedPath)
        writer.member("route", request.routeTemplate)
        if let status = request.status { writer.member("status", status.code) }
        writer.member("durationMs", request.duration.roundedMilliseconds)
        writer.member("requestBytes", request.requestBodyBytes)
        writer.member("responseBytes", request.responseBytes)
        writer.member("requestId", request.requestID)
        writer.member("traceId", request.traceParent?.traceID)
        writer.member("client", client.text(of: request.remoteAddress))
        for (name, value) in request.logNotes { writer.member(name, value) }
    }

    private func textLine(_ observation: Observation, _ time: Timestamp) -> [UInt8] {
        guard case .request(let request) = observation else {
            return Array("\(time.rfc3339) \(observation.level) \(observation.message.escapedForLog)".utf8)
        }
        let method = request.method?.rawValue ?? "-"
        let path = (request.loggedPath ?? "-").escapedForLog
        let status = request.status.map { String($0.code) } ?? "gone"
        let duration = request.duration.roundedMilliseconds
        let line =
            "\(time.rfc3339) \(method) \(path) \(status) \(duration)ms \(request.responseBytes)B \(request.requestID)"
        let rest = [request.traceParent?.traceID].compactMap(\.self) + request.logNotes.map { "\($0)=\($1)" }
        return Array(([line] + rest).joined(separator: " ").utf8)
    }
}

extension Observation {
    fileprivate var level: String {
        switch self {
        case .listening, .adminListening, .request, .databaseReachable, .readServerUsable, .migrationsApplied,
            .stopping, .finishing, .stopped, .eventsStored, .eventsRefused, .eventPartitionsMade,
            .databaseNotice:
            "info"
        case .databaseUnreachable, .databaseConnectFailed, .databaseConnectionLost, .readServerLagging,
            .readServerSilent, .migrationsMissing, .programOutdated, .logLinesDropped, .cutOff,
            .eventPartitionsFailed, .connectionsLowered, .acceptFailed:
            "warning"
        case .failure: "error"
        }
    }

    fileprivate var name: String {
        switch self {
        case .listening: "listening"
        case .adminListening: "admin-listening"
        case .connectionsLowered: "connections-lowered"
        case .acceptFailed: "accept-failed"
        case .request: "request"
        case .failure: "failure"
        case .databaseReachable: "database-reachable"
        case .databaseUnreachable: "database-unreachable"
        case .databaseConnectFailed: "database-connect-failed"
        case .databaseConnectionLost: "database-connection-lost"
        case .databaseNotice: "database-notice"
        case .readServerUsable: "read-server-usable"
        case .readServerLagging: "read-server-lagging"
        case .readServerSilent: "read-server-silent"
        case .migrationsMissing: "migrations-missing"
        case .programOutdated: "program-outdated"
        case .migrationsApplied: "migrations-applied"
        // Never a line.
        case .eventsStored, .eventsRefused: "counted"
        case .eventPartitionsMade: "event-partitions-made"
        case .eventPartitionsFailed: "event-partitions-failed"
        case .stopping: "stopping"
        case .finishing: "finishing"
        case .cutOff: "cut-off"
        case .stopped: "stopped"
        case .logLinesDropped: "log-lines-dropped"
        }
    }

    fileprivate var message: String {
        switch self {
        case .listening(let url): "serving \(url)"
        case .adminListening(let url): "serving health and metrics at \(url)"
        case .connectionsLowered(let wanted, let count, let descriptors):
            "at most \(count) connections instead of \(wanted): the process may open \(descriptors) files"
        case .acceptFailed(let reason): "a connection was not taken: \(reason)"
        case .request: "request"
        case .failure(let requestID, _, let reason): "request \(requestID) failed: \(reason)"
        case .databaseReachable(let database): "the database of \(database) answers"
        case .databaseUnreachable(let database, let reason):
            "the database of \(database) does not answer: \(reason)"
        case .databaseConnectFailed(let database, _, let reason):
            "can't connect to the database of \(database): \(reason)"
        case .databaseConnectionLost(let database, let reason):
            "a connection to the database of \(database) was lost: \(reason)"
        case .databaseNotice(let database, let notice): "the database of \(database) says: \(notice)"
        case .readServerUsable(let server, let isStandby):
            "reads may go to \(server), a \(isStandby ? "standby" : "primary")"
        case .readServerLagging(let server, let lag):
            "no reads go to \(server), which is \(lag.components.seconds) s behind"
        case .readServerSilent(let server, let reason):
            "no reads go to \(server) while another answers: \(reason)"
        case .migrationsMissing(let versions):
            "migrations are missing, run poi migrate up: \(versions.joined(separator: ", "))"
        case .programOutdated(let names):
            "this version is too old for the schema, roll out a newer one: \(names.joined(separator: ", "))"
        case .migrationsApplied: "all migrations are applied"
        case .eventsStored, .eventsRefused: "counted"
        case .eventPartitionsMade(let names): "made partitions for events: \(names.joined(separator: ", "))"
        case .eventPartitionsFailed(let reason):
            "can't make partitions for events, run poi events maintain: \(reason)"
        case .stopping(let signal, let drainDelay):
            "\(signal): not ready any more, serving on for \(drainDelay.settingText)"
        case .finishing: "taking no new connection, finishing what is in flight"
        case .cutOff(let connections): "\(connections) connections were cut off: their time was over"
        case .stopped: "stopped"
        case .logLinesDropped(let count):
            "\(count) log lines were dropped: their reader was too slow, or they could not be written"
        }
    }
}

extension Duration {
    /// Milliseconds with three decimals.
    fileprivate var roundedMilliseconds: Double {
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        return Double(microseconds) / 1000
    }
}

extension String {
    /// Without control characters and line separators, so that nobody writes lines of their own, or commands
    /// for a terminal, into a text log.
    fileprivate var escapedForLog: String {
        guard !utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return self }
        var escaped = UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: escaped.append(" ")
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}

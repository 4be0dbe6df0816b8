import EventLoop
import PointsOfInterestAPI

/// Formats observations as log lines: JSON objects, or text for a terminal.
///
/// No line has a query, a body, or a part of a path that may be somebody's coordinates.
struct LogFormatter: Sendable {
    /// Whether lines are JSON.
    let isJSON: Bool

    /// The line of an observation, with its line feed.
    func line(for observation: Observation, at time: Timestamp) -> [UInt8] {
        var line =
            isJSON
            ? jsonLine(observation, time)
            : Array("\(time.rfc3339) \(observation.level) \(observation.message.escapedForLog)".utf8)
        line.append(UInt8(ascii: "\n"))
        return line
    }

    private func jsonLine(_ observation: Observation, _ time: Timestamp) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("time", time.rfc3339)
        writer.member("level", observation.level)
        writer.member("event", observation.name)
        writer.member("message", observation.message)
        write(factsOf: observation, to: &writer)
        writer.endObject()
        return writer.bytes
    }

    /// Writes the members that programs need besides the message.
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
}

extension String {
    /// Replaces control characters and line separators by spaces, so that no client can forge a line of a text log, or
    /// send commands to a terminal.
    package var escapedForLog: String {
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

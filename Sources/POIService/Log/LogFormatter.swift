import HTTPServer
import PointsOfInterestAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Formats observations as log lines: JSON objects, or text for a terminal.
///
/// No line has a query, a body, or a part of a path that may be somebody's coordinates.
struct LogFormatter: Sendable {
    /// Whether lines are JSON.
    let isJSON: Bool
    /// How much of a client's address a request's line has.
    var client = LoggedClient.full

    /// The line of an observation, with its line feed.
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

extension Duration {
    /// Milliseconds with three decimals.
    fileprivate var roundedMilliseconds: Double {
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        return Double(microseconds) / 1000
    }
}

extension String {
    /// Replaces control characters and line separators by spaces, so that no client can forge a line of a text log, or
    /// send commands to a terminal.
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

/// A time of the wall clock.
public struct Timestamp: Hashable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z.
    public let seconds: Int
    /// The milliseconds of that second, 0…999.
    public let milliseconds: Int

    /// Makes a time from its parts.
    init(seconds: Int, milliseconds: Int) {
        self.seconds = seconds
        self.milliseconds = milliseconds
    }

    /// Seconds since 1970-01-01T00:00:00Z, with the milliseconds.
    package var secondsSince1970: Double { Double(seconds) + Double(milliseconds) / 1000 }

    /// The time now.
    public static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(seconds: time.tv_sec, milliseconds: time.tv_nsec / 1_000_000)
    }

    /// The time in UTC by RFC 3339, such as `2026-11-21T01:35:33.250Z`.
    public var rfc3339: String {
        var seconds = seconds
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let date = [
            padded(Int(parts.tm_year) + 1900, 4), padded(Int(parts.tm_mon) + 1, 2),
            padded(Int(parts.tm_mday), 2),
        ]
        let time = [
            padded(Int(parts.tm_hour), 2), padded(Int(parts.tm_min), 2), padded(Int(parts.tm_sec), 2),
        ]
        return date.joined(separator: "-") + "T" + time.joined(separator: ":") + "." + padded(milliseconds, 3)
            + "Z"
    }

    private func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

import EventLoop
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
    let isJSON: Bool

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

    private func write(factsOf observation: Observation, to writer: inout JSONWriter) {
        switch observation {
        case .failure(let requestID, let traceID, _, _):
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

extension String {
    /// Removes what may be a coordinate: `…` replaces each word that begins with a digit, and its sign.
    ///
    /// The database's messages quote values, as numbers or as geometries in hexadecimal digits. Words that end with
    /// digits stay: `float8`, `locations_pkey1`.
    package var redactingNumbers: String {
        var kept: [UInt8] = []
        var isInWord = false
        var isInNumber = false
        for byte in utf8 {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            let isLetter = Self.isLetter(byte)
            if isInNumber, isDigit || isLetter || Self.isPartOfNumber(byte) { continue }
            isInNumber = isDigit && !isInWord
            if isInNumber {
                while let sign = kept.last, "+-.".utf8.contains(sign) { kept.removeLast() }
                kept += Array("…".utf8)
            } else {
                kept.append(byte)
            }
            isInWord = !isInNumber && (isLetter || isInWord && isDigit)
        }
        return String(decoding: kept, as: UTF8.self)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        let lowercase = byte | 0x20
        return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercase) || byte == UInt8(ascii: "_")
    }

    /// Whether a byte may be inside a number: `37.32`, `1e-5`.
    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        ".+-".utf8.contains(byte)
    }
}

/// A time of the wall clock, counted from 1970-01-01T00:00:00Z.
package struct Timestamp: Hashable, Sendable {
    package let seconds: Int
    /// 0…999.
    package let milliseconds: Int

    package init(seconds: Int, milliseconds: Int) {
        self.seconds = seconds
        self.milliseconds = milliseconds
    }

    package var secondsSince1970: Double { Double(seconds) + Double(milliseconds) / 1000 }

    package static var now: Timestamp {
        let (seconds, rest) = WallClock.nanoseconds().quotientAndRemainder(dividingBy: 1_000_000_000)
        return Timestamp(seconds: Int(seconds), milliseconds: Int(rest / 1_000_000))
    }

    package var nanosecondsSince1970: Int64 {
        Int64(seconds) * 1_000_000_000 + Int64(milliseconds) * 1_000_000
    }

    /// Such as `2026-11-21T01:35:33.250Z`.
    package var rfc3339: String {
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

/// The system's clock, which somebody may set.
package enum WallClock {
    /// Since 1970-01-01T00:00:00Z.
    package static func nanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

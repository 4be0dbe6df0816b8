import Foundation

/// A request and its answer, as they are written down in a file:
///
///     GET /livez
///     Accept: application/json
///
///     200
///     Content-Type: application/json
///
///     {"status":"ok"}
public struct RecordedExchange: Hashable, Sendable {
    /// Why a file is not an exchange.
    public enum Fault: Error, Hashable, Sendable {
        /// There is no such part in it.
        case missing(String)
        /// This line is no header.
        case notAHeader(String)
    }

    /// The request's method.
    public var method: String
    /// The request's path below any prefix, and its query.
    public var target: String
    /// The request's headers.
    public var requestHeaders: [String: String]
    /// The answer's status.
    public var status: Int
    /// Those of the answer's headers that don't change from one answer to the next.
    public var responseHeaders: [String: String]
    /// The answer's body.
    public var body: Data

    /// Reads a file's text, whose last line's end is not the body's.
    ///
    /// - Throws: `RecordedExchange.Fault`.
    public init(text: String) throws {
        var rest = text[...]
        let request = Self.head(of: &rest)
        let words = (request.first ?? "").split(separator: " ")
        guard words.count == 2 else { throw Fault.missing("request line") }
        let response = Self.head(of: &rest)
        guard let status = response.first.flatMap({ Int($0) }) else { throw Fault.missing("status") }
        method = String(words[0])
        target = String(words[1])
        requestHeaders = try Self.headers(request.dropFirst())
        self.status = status
        responseHeaders = try Self.headers(response.dropFirst())
        body = Data((rest.hasSuffix("\n") ? rest.dropLast() : rest).utf8)
    }

    /// Takes the lines before the next empty one.
    private static func head(of rest: inout Substring) -> [Substring] {
        var lines: [Substring] = []
        while !rest.isEmpty {
            let end = rest.firstIndex(of: "\n") ?? rest.endIndex
            let line = rest[..<end]
            rest = rest[end...].dropFirst()
            if line.isEmpty { break }
            lines.append(line)
        }
        return lines
    }

    private static func headers(_ lines: some Sequence<Substring>) throws -> [String: String] {
        var headers: [String: String] = [:]
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { throw Fault.notAHeader(String(line)) }
            headers[String(line[..<colon])] = line[colon...].dropFirst().trimmingCharacters(in: .whitespaces)
        }
        return headers
    }
}

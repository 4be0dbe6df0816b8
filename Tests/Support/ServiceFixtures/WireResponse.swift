import Foundation
import Loopback
import PointsOfInterestClient
import ServerProcess

/// A response as it came over the wire.
package struct WireResponse: Sendable {
    package let status: Int
    /// By lower-case name.
    package let headers: [String: String]
    package let body: Data

    fileprivate init(head: String, body: [UInt8]) {
        let lines = head.components(separatedBy: "\r\n")
        status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        headers = Dictionary(
            lines.dropFirst().compactMap { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2 else { return nil }
                return (parts[0].lowercased(), parts[1].trimmingCharacters(in: .whitespaces))
            }, uniquingKeysWith: { "\($0), \($1)" })
        self.body = Data(body)
    }

    /// The problem document, if the response is one.
    package var problem: Problem? {
        guard headers["content-type"] == "application/problem+json" else { return nil }
        return try? JSONDecoder().decode(Problem.self, from: body)
    }

    /// The places, if the response has them.
    package var places: [PointOfInterest]? {
        try? JSONDecoder().decode([PointOfInterest].self, from: body)
    }
}

extension WireClient {
    /// Receives one response with a `Content-Length`, or to `HEAD` one without a body.
    package func receiveResponse(isHead: Bool = false) throws -> WireResponse {
        let message = try receiveMessage(isHead: isHead)
        return WireResponse(head: message.head, body: message.body)
    }
}

/// All bytes that came over a connection until its end, split into responses.
package struct ReceivedResponses {
    /// What no server may send.
    package struct Malformed: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// One response: what its head says, and its body if one came.
    package struct Response {
        package let status: Int
        package let isProblem: Bool
        package let isCompressed: Bool
        package let body: ArraySlice<UInt8>
    }

    package let responses: [Response]

    /// - Parameter isReset: whether the server reset the connection, so that the last response may be cut off.
    package init(_ bytes: [UInt8], isReset: Bool) throws {
        var responses: [Response] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let response = try Self.take(from: &rest) else {
                if isReset { break }
                throw Malformed(description: "the response's end is missing")
            }
            responses.append(response)
        }
        self.responses = responses
    }

    private static let start = Array("HTTP/1.1 ".utf8)

    /// Takes the first response off; nil if it isn't whole.
    private static func take(from bytes: inout ArraySlice<UInt8>) throws -> Response? {
        guard let headEnd = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<headEnd.lowerBound], as: UTF8.self)
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        guard let statusLine = try /HTTP\/1\.1 ([1-5][0-9][0-9]) .*/.wholeMatch(in: lines[0]),
            let status = Int(statusLine.output.1)
        else { throw Malformed(description: "no status line: \(lines[0])") }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let field = try /([!-9;-~]+): ?([^\0\r\n]*)/.wholeMatch(in: line) else {
                throw Malformed(description: "no field: \(line)")
            }
            fields[field.output.1.lowercased()] = String(field.output.2)
        }
        bytes = bytes[headEnd.upperBound...]
        let length = fields["content-length"].flatMap { Int($0) } ?? 0
        // A response to HEAD has a length and no body: the next response follows, or nothing.
        let hasBody = length > 0 && !bytes.isEmpty && !bytes.starts(with: start)
        guard !hasBody || bytes.count >= length else { return nil }
        let body = hasBody ? bytes.prefix(length) : []
        bytes = bytes.dropFirst(body.count)
        return Response(
            status: status, isProblem: fields["content-type"] == MediaType.problemJSON,
            isCompressed: fields["content-encoding"] != nil, body: body)
    }
}

/// A request for places near a centre that can't be mistaken for anything else in a log.
package let secretTarget = "/locations?lat=37.32931357&long=-121.88938642"

/// Sends one `GET` request on a connection of its own.
package func get(_ target: String, port: Int) async throws -> WireResponse {
    try await offPool {
        let client = try WireClient(port: port)
        client.sendGet(target)
        return try client.receiveResponse()
    }
}

/// Sends a batch of events, as JSON, on a connection of its own.
package func postEvents(
    _ json: String, port: Int, headers: [String] = []
) async throws -> WireResponse {
    try await offPool {
        let client = try WireClient(port: port)
        let fields =
            ["Host: poi", "Content-Type: application/json", "Content-Length: \(json.utf8.count)"] + headers
        let head = (["POST /events HTTP/1.1"] + fields).joined(separator: "\r\n")
        client.send(Array("\(head)\r\n\r\n\(json)".utf8))
        return try client.receiveResponse()
    }
}

extension ProgramOutput {
    /// The lines that no program may write: signs of a crash, and the centre of ``secretTarget``, save in the request's
    /// id: that is logged as the client sends it, and a mutation may have moved any bytes there.
    package var unsoundLines: [String] {
        let signs = ["Fatal error", "Assertion", "Precondition", "Crash", "Sanitizer", "corrupt", "SUMMARY"]
        return lines.map(\.text).filter { line in
            signs.contains { line.contains($0) }
                || line.tellsCoordinates && line.replacing(#/"requestId":"[^"]*"/#, with: "").tellsCoordinates
        }
    }
}

extension String {
    /// Whether it contains the centre of ``secretTarget``.
    package var tellsCoordinates: Bool { contains("37.3293135") || contains("121.8893864") }
}

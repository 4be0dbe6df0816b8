import Foundation
import Loopback
import ServerProcess

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

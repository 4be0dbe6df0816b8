import Foundation

/// Sends a batch of events, as JSON, on a connection of its own.
package func postEvents(
    _ json: String, port: Int, headers: [String] = []
) async throws -> WireAnswer {
    try await offPool {
        let connection = try WireConnection(port: port)
        let fields =
            ["Host: poi", "Content-Type: application/json", "Content-Length: \(json.utf8.count)"] + headers
        let head = (["POST /events HTTP/1.1"] + fields).joined(separator: "\r\n")
        connection.send(Array("\(head)\r\n\r\n\(json)".utf8))
        return try connection.readAnswer()
    }
}

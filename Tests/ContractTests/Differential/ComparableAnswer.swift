import Foundation
import ServiceFixtures

/// What two servers with the same data answer alike.
struct ComparableAnswer: Equatable, CustomStringConvertible {
    let status: Int
    let headers: [String: String]
    let body: Data

    /// What is a server's own: when it answered, and how long its database took.
    private static let ownNames: Set = ["date", "server-timing"]

    init(_ answer: WireAnswer) {
        status = answer.status
        var headers = answer.headers.filter { !Self.ownNames.contains($0.key) }
        // Over the id of the server's own dataset; what it is good for is tried with a request of its own.
        if let tag = headers["etag"] { headers["etag"] = String(tag.prefix(3)) }
        // Of a request that can't be read, its own id isn't known.
        guard let id = headers["x-request-id"], id != WireRequest.id else {
            self.headers = headers
            body = answer.body
            return
        }
        headers["x-request-id"] = "made"
        self.headers = headers
        body = Data(String(decoding: answer.body, as: UTF8.self).replacing(id, with: "made").utf8)
    }

    var description: String {
        let fields = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\n" }.joined()
        let text =
            headers["content-encoding"] == nil
            ? String(decoding: body.prefix(600), as: UTF8.self) : "\(body.count) compressed bytes"
        return "\(status)\n\(fields)\n\(text)"
    }
}

import WireCases

/// The bytes of all responses of a row of the table, whatever the time and the requests' ids are.
struct ResponsePattern: CustomStringConvertible {
    let description: String
    /// With `any` for each byte of a date or an id.
    private let bytes: [UInt8]
    /// No response of the table has this byte.
    private static let any: UInt8 = 1

    init(_ responses: [WireCase.Response], _ connection: WireCase.Connection) {
        let last = connection == .closed ? responses.indices.last : nil
        let text = responses.indices.map { Self.text(of: responses[$0], closes: $0 == last) }.joined()
        description = text.debugDescription
        bytes = Array(
            text.replacing("<date>", with: String(repeating: "\u{1}", count: 29))
                .replacing("<id>", with: String(repeating: "\u{1}", count: 15)).utf8)
    }

    func matches(_ received: [UInt8]) -> Bool {
        received.count == bytes.count && zip(received, bytes).allSatisfy { $0 == $1 || $1 == Self.any }
    }

    private static func text(of response: WireCase.Response, closes: Bool) -> String {
        let status = "\(response.status) \(reasonPhrases[response.status] ?? "?")"
        guard response.status >= 200 else { return "HTTP/1.1 \(status)\r\n\r\n" }
        var fields = response.fields.map { "\($0)\r\n" }.joined()
        var connection = closes ? "close" : nil
        if fields.hasSuffix("Connection: keep-alive\r\n") {
            fields.removeLast("Connection: keep-alive\r\n".count)
            connection = "keep-alive"
        }
        guard let text = response.text else {
            return ExpectedResponse.empty(status, fields: fields, connection: connection)
        }
        return ExpectedResponse.text(
            status, text + "\n", fields: fields, connection: connection, isHead: response.isWithoutBody)
    }

    /// RFC 9110 section 15.
    private static let reasonPhrases = [
        100: "Continue", 200: "OK", 204: "No Content", 304: "Not Modified", 400: "Bad Request",
        404: "Not Found",
        405: "Method Not Allowed", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
        417: "Expectation Failed", 431: "Request Header Fields Too Large", 501: "Not Implemented",
        505: "HTTP Version Not Supported",
    ]
}

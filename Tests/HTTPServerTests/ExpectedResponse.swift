/// An answer of the test's server, in full, as `WireClient` normalises it.
enum ExpectedResponse {
    static func text(
        _ status: String, _ body: String, fields: String = "", connection: String? = nil,
        isHead: Bool = false, id: String = "<id>"
    ) -> String {
        "HTTP/1.1 \(status)\r\nDate: <date>\r\nContent-Type: text/plain; charset=utf-8\r\n\(fields)"
            + "Content-Length: \(body.utf8.count)\r\nX-Request-Id: \(id)\r\n"
            + (connection.map { "Connection: \($0)\r\n" } ?? "") + "\r\n" + (isHead ? "" : body)
    }

    static func error(_ status: String, _ detail: String, fields: String = "") -> String {
        text(status, detail + "\n", fields: fields, connection: "close")
    }

    /// Length of `hello` as it is sent: a date has 29 bytes, an id 15.
    static let helloLength = hello.utf8.count - "<date><id>".utf8.count + 29 + 15
    static let hello = text("200 OK", "hello")
    static let gated = text("200 OK", "gated")
    static let lastHello = text("200 OK", "hello", connection: "close")
}

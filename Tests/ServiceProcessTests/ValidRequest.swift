import ServiceFixtures

/// Requests that the service takes, of every route, method and header: what mutations start from.
enum ValidRequest {
    /// The bytes of one, or of a pipelined pair.
    static func random(_ generator: inout some RandomNumberGenerator) -> [UInt8] {
        let first = single(&generator)
        return Int.random(in: 0..<4, using: &generator) == 0 ? first + single(&generator) : first
    }

    private static let targets = [
        secretTarget, secretTarget + "&radius=1000&limit=5", secretTarget + "&q=caf%C3%A9%20st",
        secretTarget + "&category=park,cafe&featured=false", "/locations?bbox=-122,37,-121,38&limit=3",
        "/locations?bbox=179.5,-90,-179.5,90&lat=0&long=180",
        secretTarget + "&cursor=AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "/locations/84", "/locations/84?lat=1e1&long=-0", "/locations/9223372036854775807", "/categories",
        "/livez", "/readyz", "/openapi.json", "/", "/problems/not-found", "http://localhost/categories",
    ]

    private static let methods = [
        "GET", "GET", "GET", "GET", "GET", "GET", "HEAD", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE",
        "TRACE",
    ]

    private static let fields = [
        "Accept: application/geo+json", "Accept: text/html, application/json;q=0.5, */*;q=0.1",
        "Accept-Encoding: gzip, identity;q=0", "Accept-Encoding: gzip;q=0.5, br", "Connection: close",
        "Connection: keep-alive", "If-None-Match: *", #"If-None-Match: W/"abc", "def""#,
        "Origin: https://app.example", "Access-Control-Request-Method: GET",
        "Access-Control-Request-Headers: authorization", "Authorization: Bearer abc.def-123",
        "X-Request-Id: 7d7c2f3e-1b0a-4f8e-9c55-0a2f6f5f5e11", "X-Forwarded-For: 192.0.2.1",
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "User-Agent: a (b) c/1.0",
    ]

    private static let bodies = [
        "Content-Length: 0\r\n\r\n", "Content-Length: 5\r\n\r\nhello",
        "Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nA: b\r\n\r\n",
    ]

    private static func single(_ generator: inout some RandomNumberGenerator) -> [UInt8] {
        let method = methods.picked(&generator)
        let version = Int.random(in: 0..<8, using: &generator) == 0 ? "HTTP/1.0" : "HTTP/1.1"
        // The one target that is no path, and only OPTIONS has it.
        let isWholeServer = method == "OPTIONS" && Bool.random(using: &generator)
        var text = "\(method) \(isWholeServer ? "*" : targets.picked(&generator)) \(version)\r\n"
        text += "Host: localhost\r\n"
        for _ in 0..<Int.random(in: 0...4, using: &generator) { text += fields.picked(&generator) + "\r\n" }
        let mayHaveBody = ["POST", "PUT", "PATCH", "DELETE"].contains(method) && version == "HTTP/1.1"
        text += mayHaveBody ? bodies.picked(&generator) : "\r\n"
        return Array(text.utf8)
    }
}

extension Array {
    /// One of the elements; there must be one.
    func picked(_ generator: inout some RandomNumberGenerator) -> Element {
        self[Int.random(in: 0..<count, using: &generator)]
    }
}

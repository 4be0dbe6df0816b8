/// A request as it goes over the wire, right or wrong.
struct WireRequest: Hashable, Sendable, CustomStringConvertible {
    var method = "GET"
    var target: String
    /// In the order in which they are sent.
    var headers: [Header] = []

    struct Header: Hashable, Sendable {
        let name: String
        let value: String
    }

    /// What a problem tells, the same for all.
    static let id = "differential"

    /// Its bytes, as the last request of its connection.
    var text: String {
        let fields = headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        return "\(method) \(target) HTTP/1.1\r\nHost: service.test\r\nX-Request-Id: \(Self.id)\r\n"
            + "\(fields)Connection: close\r\n\r\n"
    }

    var description: String {
        "\(method) \(target)" + headers.map { " | \($0.name): \($0.value)" }.joined()
    }

    func adding(_ name: String, _ value: String) -> WireRequest {
        var request = self
        request.headers.append(Header(name: name, value: value))
        return request
    }
}

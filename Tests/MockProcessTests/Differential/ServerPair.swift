import Foundation
import Loopback
import ServerProcess
import ServiceFixtures

/// The mock and the real service, with the same data and the same settings.
struct ServerPair {
    private static let mock = Task { try await OwnServers.startMock() }
    private static let service = Task { try await OwnServers.startLocal() }

    private let mockPort: Int
    private let servicePort: Int
    /// Where the service is.
    let serviceURL: URL

    init() async throws {
        mockPort = try await Self.mock.value.port
        servicePort = try await Self.service.value.port
        serviceURL = try await Self.service.value.baseURL
    }

    /// The responses of both to one request.
    func responses(to request: WireRequest) async throws -> (mock: WireResponse, service: WireResponse) {
        try await responses(mock: request, service: request)
    }

    /// The response of each to a request of its own.
    func responses(
        mock: WireRequest, service: WireRequest
    ) async throws -> (mock: WireResponse, service: WireResponse) {
        try await offPool { [mockPort, servicePort] in
            (try Self.response(to: mock, port: mockPort), try Self.response(to: service, port: servicePort))
        }
    }

    private static func response(to request: WireRequest, port: Int) throws -> WireResponse {
        let connection = try WireClient(port: port)
        connection.send(request.text)
        return try connection.receiveResponse(isHead: request.method == "HEAD")
    }
}

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
        return "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: \(Self.id)\r\n"
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

/// The parts of a response that are equal from two servers with the same data.
struct ComparableResponse: Equatable, CustomStringConvertible {
    let status: Int
    let headers: [String: String]
    let body: Data

    /// What differs from server to server: the time of the response, and how long the database took.
    private static let ownNames: Set = ["date", "server-timing"]

    init(_ response: WireResponse, to request: WireRequest) {
        status = response.status
        var headers = response.headers.filter { !Self.ownNames.contains($0.key) }
        var content = response.body
        // Each server has codes of its own, which suit what it has compressed.
        if headers["content-encoding"] == "gzip", let plain = gunzip(Array(content)) {
            content = Data(plain)
            headers["content-length"] = nil
        }
        // Each server's places were written at another time, and have versions of their own.
        let change = /"version":\d+,"updatedAt":"[^"]+"/
        let text = String(decoding: content, as: UTF8.self)
        content = Data(text.replacing(change, with: "").utf8)
        // An id may be escaped.
        let target = request.target.removingPercentEncoding ?? request.target
        if text.contains(change) || request.method == "HEAD" && target.contains(/^\/locations\/\d/) {
            headers["content-length"] = nil
        }
        // Over the id of the server's own dataset; what it is good for is tried with a request of its own.
        if let tag = headers["etag"] { headers["etag"] = String(tag.prefix(3)) }
        // Of a request that can't be read, its own id isn't known.
        guard let id = headers["x-request-id"], id != WireRequest.id else {
            self.headers = headers
            body = content
            return
        }
        headers["x-request-id"] = "made"
        self.headers = headers
        body = Data(String(decoding: content, as: UTF8.self).replacing(id, with: "made").utf8)
    }

    var description: String {
        let fields = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\n" }.joined()
        return "\(status)\n\(fields)\n\(String(decoding: body.prefix(600), as: UTF8.self))"
    }
}

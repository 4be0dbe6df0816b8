import Foundation
import PointsOfInterestClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request as a release's client sent it, and the response of a server of that time.
struct Exchange: Codable, Sendable {
    struct Request: Codable, Sendable {
        let method: String
        /// Path and query.
        let target: String
        let headers: [String: String]
        /// UTF-8; nil where there is none.
        let body: String?
    }

    struct Response: Codable, Sendable {
        let status: Int
        let headers: [String: String]
        /// UTF-8, and not compressed.
        let body: String
    }

    let request: Request
    let response: Response

    /// The names that the files have.
    private enum CodingKeys: String, CodingKey {
        case request
        case response = "answer"
    }

    /// Whether a request asks for what was asked for then.
    func isResponse(to request: URLRequest) -> Bool {
        request.method == self.request.method && request.target == self.request.target
            && (request.value(forHTTPHeaderField: "If-None-Match") != nil)
                == (self.request.headers["If-None-Match"] != nil)
    }
}

extension Exchange.Request {
    init(_ request: URLRequest) {
        self.init(
            method: request.method, target: request.target, headers: request.allHTTPHeaderFields ?? [:],
            body: request.httpBody.map { String(decoding: $0, as: UTF8.self) })
    }

    /// The request to a server, with another entity tag in place of its own.
    func urlRequest(to server: URL, entityTag: String?) throws -> URLRequest {
        var base = server.absoluteString[...]
        while base.hasSuffix("/") { base.removeLast() }
        guard let url = URL(string: base + target) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.allHTTPHeaderFields = headers
        if headers["If-None-Match"] != nil {
            request.setValue(entityTag, forHTTPHeaderField: "If-None-Match")
        }
        request.httpBody = body.map { Data($0.utf8) }
        return request
    }
}

extension Exchange.Response {
    /// What is true of the connection and the moment only.
    private static let passing: Set = [
        "connection", "content-encoding", "content-length", "date", "server-timing", "x-request-id",
    ]

    init(_ response: HTTPURLResponse, _ body: Data) {
        var headers: [String: String] = [:]
        for case (let name as String, let value as String) in response.allHeaderFields
        where !Self.passing.contains(name.lowercased()) {
            headers[name] = value
        }
        self.init(
            status: response.statusCode, headers: headers, body: String(decoding: body, as: UTF8.self))
    }

    /// The value of a header field, in whatever case its name is written.
    func value(of name: String) -> String? {
        headers.first { $0.key.lowercased() == name.lowercased() }?.value
    }

    /// The body, if it is JSON.
    var json: JSONValue? { try? JSONDecoder().decode(JSONValue.self, from: Data(body.utf8)) }
}

extension URLRequest {
    var method: String { httpMethod ?? "GET" }

    /// Path and query.
    var target: String {
        guard let url, let components = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            return ""
        }
        return components.percentEncodedPath + (components.percentEncodedQuery.map { "?\($0)" } ?? "")
    }
}

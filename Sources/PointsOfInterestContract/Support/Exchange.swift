import Foundation
import Locking
import PointsOfInterestClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request that was sent to the service, and the response that came.
struct Exchange: Sendable {
    let request: URLRequest
    /// The path below the service's prefix, and the query, percent-encoded.
    let target: String
    let head: ResponseHead
    let body: Data

    init(_ request: URLRequest, _ head: ResponseHead, _ body: Data) {
        self.request = request
        self.head = head
        self.body = body
        target = Self.target(of: request.url)
    }

    var method: String { request.httpMethod ?? "GET" }
    var status: Int { head.status }
    var path: String { String(target.prefix { $0 != "?" }) }

    /// Whether it is a request of those that edit places.
    var isOfEditors: Bool {
        if path == EndpointPath.changes { return true }
        return path.hasPrefix(EndpointPath.locations)
            && (!["GET", "HEAD"].contains(method)
                || ["/record", "/versions"].contains { path.hasSuffix($0) })
    }

    func header(_ name: String) -> String? { head.value(forField: name) }

    /// The values of a header that is a list (RFC 9110, section 5.6.1), in lower case; none where there is no such header.
    func list(_ name: String) -> [String] {
        (header(name) ?? "").split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces).lowercased()
        }
    }

    /// The media type without its parameters; nil where there is none.
    var mediaType: String? {
        header("Content-Type").map {
            $0.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        }
    }

    private static func target(of url: URL?) -> String {
        guard let url, let parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "" }
        var path = parts.percentEncodedPath[...]
        if case .remote(let base) = ContractConfiguration.current.target {
            let prefix = base.path.hasSuffix("/") ? String(base.path.dropLast()) : base.path
            if path.hasPrefix(prefix) { path = path.dropFirst(prefix.count) }
        }
        return path + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
    }
}

// MARK: - As a person reads it

extension Exchange {
    /// The request as a command to repeat it, in which keys and other headers of the target's own are left out.
    var curl: String {
        var words = ["curl -i"]
        if method != "GET" { words.append("-X \(method)") }
        let own = ContractConfiguration.current.secretNames
        for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            let shown = own.contains(name.lowercased()) ? "…" : value
            words.append("-H '\(name): \(shown)'")
        }
        if let body = request.httpBody { words.append("-d '\(Self.beginning(of: body, 400))'") }
        return (words + ["'\(request.url?.absoluteString ?? "")'"]).joined(separator: " ")
    }

    /// The response in a line: status, the headers that matter to an app, and the body's beginning.
    var summary: String {
        let names = [
            "Content-Type", "Content-Encoding", "Cache-Control", "ETag", "Link", "Vary", "Allow",
            "WWW-Authenticate", "Retry-After", "Location", "X-Request-Id",
        ]
        let headers = names.compactMap { name in header(name).map { "\(name): \($0)" } }
        let content = body.isEmpty ? "no body" : "\(body.count) bytes: \(Self.beginning(of: body, 300))"
        return (["\(status)"] + headers + [content]).joined(separator: "; ")
    }

    private static func beginning(of body: Data, _ count: Int) -> String {
        String(decoding: body.prefix(count), as: UTF8.self)
            .split(whereSeparator: \.isNewline).joined(separator: " ") + (body.count > count ? "…" : "")
    }
}

// MARK: - What a test has sent

/// The exchanges of one test, and what was wrong with them whatever the test is about.
final class ExchangeLog: Sendable {
    @TaskLocal static var current: ExchangeLog?

    private struct State {
        var exchanges: [Exchange] = []
        var violations: [Violation] = []
    }

    private let state = Lock(State())

    /// Takes note of an exchange, and checks what holds for each response.
    static func note(_ exchange: Exchange) {
        if ContractConfiguration.current.isRecording { RecordedService.note(exchange) }
        guard let log = current else { return }
        let violations = ResponseRules.violations(of: exchange)
        log.state.withLock {
            $0.exchanges.append(exchange)
            $0.violations += violations
        }
    }

    var last: (count: Int, exchange: Exchange)? {
        state.withLock { state in state.exchanges.last.map { (state.exchanges.count, $0) } }
    }

    /// The exchange of a request with this id, the last one if there are several.
    func exchange(id: String?) -> Exchange? {
        guard let id else { return nil }
        return state.withLock { $0.exchanges }.last { exchange in
            exchange.request.value(forHTTPHeaderField: "X-Request-Id") == id
        }
    }

    var violations: [Violation] { state.withLock { $0.violations } }
}

extension Exchange {
    var problem: Problem { get throws { try JSONDecoder().decode(Problem.self, from: body) } }
}

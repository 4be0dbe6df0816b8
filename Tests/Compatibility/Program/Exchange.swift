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

/// The exchanges of a scenario: recorded one by one, or replayed in the same order.
///
/// Unchecked, since the lock guards the state.
final class Conversation: @unchecked Sendable {
    /// A request that wasn't made when the responses were recorded.
    struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }

    private let lock = NSLock()
    private var exchanges: [Exchange] = []
    private var isNoting = false

    var isRecording: Bool { lock.withLock { isNoting } }

    /// Begins to note.
    func startRecording() {
        lock.withLock { (isNoting, exchanges) = (true, []) }
    }

    /// Begins to replay these.
    func startReplaying(_ recorded: [Exchange]) {
        lock.withLock { (isNoting, exchanges) = (false, recorded) }
    }

    /// What was noted; or what is still to be asked for.
    var rest: [Exchange] { lock.withLock { exchanges } }

    func record(_ exchange: Exchange) {
        lock.withLock { exchanges.append(exchange) }
    }

    func replay(_ request: URLRequest) -> Result<Exchange.Response, any Error> {
        lock.withLock {
            guard let next = exchanges.first, next.isResponse(to: request) else {
                let expected =
                    exchanges.first.map { "\($0.request.method) \($0.request.target)" } ?? "nothing"
                return .failure(
                    Unexpected(
                        description: "asked \(request.method) \(request.target) instead of \(expected)"))
            }
            return .success(exchanges.removeFirst().response)
        }
    }
}

/// Replaces the network: passes requests on and records them with their responses, or replays what is recorded.
final class ExchangeProtocol: URLProtocol {
    /// What is recorded or replayed; one conversation at a time.
    static let conversation = Conversation()

    private static let network = URLSession(configuration: .withoutCache)

    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard Self.conversation.isRecording else {
            return finish(Self.conversation.replay(request))
        }
        let loader = Loader(self)
        // Elsewhere: on Linux sessions share the queue that calls this, and wait for it to make a task.
        DispatchQueue.global().async {
            let request = loader.value.request
            Self.network.dataTask(with: request) { data, response, error in
                guard let response = response as? HTTPURLResponse else {
                    return loader.value.finish(.failure(error ?? URLError(.badServerResponse)))
                }
                let recorded = Exchange.Response(response, data ?? Data())
                Self.conversation.record(Exchange(request: Exchange.Request(request), response: recorded))
                loader.value.finish(.success(recorded))
            }
            .resume()
        }
    }

    override func stopLoading() {}

    private func finish(_ outcome: Result<Exchange.Response, any Error>) {
        do {
            let recorded = try outcome.get()
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: recorded.status, httpVersion: "HTTP/1.1",
                    headerFields: recorded.headers)
            else { throw URLError(.badURL) }
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: Data(recorded.body.utf8))
            client?.urlProtocolDidFinishLoading(self)
        } catch {
            client?.urlProtocol(self, didFailWithError: error)
        }
    }

    /// Carries a loader to the end of its request; unchecked, since nothing else uses it in between.
    private struct Loader: @unchecked Sendable {
        let value: ExchangeProtocol

        init(_ value: ExchangeProtocol) { self.value = value }
    }
}

extension URLSessionConfiguration {
    /// On Linux, a task cancelled while its session looks into a cache can trap.
    static var withoutCache: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        return configuration
    }
}

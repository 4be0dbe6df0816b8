import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A network of a test's own: a session, a host that only it reaches, and the handler that answers there.
struct MockNetwork {
    /// Answers a request; nil leaves it without an answer, an error fails it.
    typealias Handler = @Sendable (URLRequest) throws -> (URLResponse, Data)?

    enum Event: Sendable {
        case started(URLRequest), stopped
    }

    struct Connection: Sendable {
        let handler: Handler
        let events: AsyncStream<Event>.Continuation
    }

    let session: URLSession
    let baseURL: URL
    /// What happens to the requests; for one consumer.
    let events: AsyncStream<Event>

    init(_ handler: @escaping Handler) throws {
        let host = "\(UUID().uuidString.lowercased()).test"
        var components = URLComponents()
        components.scheme = "https"
        components.host = host
        guard let url = components.url else { throw URLError(.badURL) }
        baseURL = url
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [MockURLProtocol.self]
        // On Linux, a task cancelled while its session looks into a cache can trap.
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        self.events = events
        MockURLProtocol.networks.withLock {
            $0[host] = Connection(handler: handler, events: continuation)
        }
    }

    /// A network on which every request has the same answer.
    init(status: Int = 200, contentType: String? = "application/json", body: String) throws {
        try self.init { request in
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: status, httpVersion: "HTTP/1.1",
                    headerFields: contentType.map { ["Content-Type": $0] })
            else { throw URLError(.badServerResponse) }
            return (response, Data(body.utf8))
        }
    }
}

import Foundation
import PointsOfInterestTesting

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A test's own network: a session, its requests, and the handler that responds to them.
struct MockNetwork {
    /// Returns the response to a request; nil is no response, an error fails the request.
    typealias Handler = @Sendable (URLRequest) throws -> (URLResponse, Data)?

    let session: URLSession
    let baseURL = AppConfiguration.mock.baseURL
    /// What happens to the requests; for one consumer.
    let events: AsyncStream<MockURLProtocol.Event>

    init(_ handler: @escaping Handler) throws {
        let (events, continuation) = AsyncStream.makeStream(of: MockURLProtocol.Event.self)
        self.events = events
        session = MockURLProtocol.session(events: continuation) { request in
            try handler(request).map { .response($0, $1) } ?? .nothing
        }
    }

    /// A network on which every request has the same response.
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

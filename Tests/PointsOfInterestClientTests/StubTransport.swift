import Locking
import Foundation
import PointsOfInterestTesting

@testable import PointsOfInterestClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A transport that returns prepared responses in order, and records the requests.
final class StubTransport: Transport {
    private let outcomes: Lock<[Result<Response, RequestError>]>
    private let sent = Lock<[URLRequest]>([])

    /// The requests so far.
    var requests: [URLRequest] { sent.withLock { $0 } }

    init(_ outcomes: [Result<Response, RequestError>]) {
        self.outcomes = Lock(outcomes)
    }

    func send(_ request: URLRequest) async throws(RequestError) -> Response {
        sent.withLock { $0.append(request) }
        let outcome = outcomes.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        return try (outcome ?? .failure(.unexpectedStatus(0))).get()
    }
}

extension Response {
    /// A response with a status, header fields and a text.
    static func test(_ status: Int, _ fields: [String: String] = [:], _ body: String = "") -> Response {
        Response(head: ResponseHead(status: status, fields: fields), body: Data(body.utf8))
    }
}

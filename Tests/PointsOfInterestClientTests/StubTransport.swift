import Locking
import Foundation
import PointsOfInterestTesting

@testable import PointsOfInterestClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A transport that has an answer ready for each request, in order, and tells what it was asked.
final class StubTransport: Transport {
    private let outcomes: Lock<[Result<Answer, RequestError>]>
    private let sent = Lock<[URLRequest]>([])

    /// The requests so far.
    var requests: [URLRequest] { sent.withLock { $0 } }

    init(_ outcomes: [Result<Answer, RequestError>]) {
        self.outcomes = Lock(outcomes)
    }

    func send(_ request: URLRequest) async throws(RequestError) -> Answer {
        sent.withLock { $0.append(request) }
        let outcome = outcomes.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        return try (outcome ?? .failure(.unexpectedStatus(0))).get()
    }
}

extension Answer {
    /// An answer with a status, fields and a text.
    static func test(_ status: Int, _ fields: [String: String] = [:], _ body: String = "") -> Answer {
        Answer(head: ResponseHead(status: status, fields: fields), body: Data(body.utf8))
    }
}

import Locking
import Foundation

@testable import PointsOfInterestAPI
@testable import PointsOfInterestClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A transport that calls a function for each request, and counts how many it had at once.
final class HandledTransport: Transport {
    private let handler: @Sendable (URLRequest) throws -> Response
    private let state = Lock<(requests: [URLRequest], current: Int, most: Int)>(([], 0, 0))

    var requests: [URLRequest] { state.withLock { $0.requests } }
    var mostAtOnce: Int { state.withLock { $0.most } }

    init(_ handler: @escaping @Sendable (URLRequest) throws -> Response) {
        self.handler = handler
    }

    func send(_ request: URLRequest) async throws(RequestError) -> Response {
        state.withLock { state in
            state.requests.append(request)
            state.current += 1
            state.most = max(state.most, state.current)
        }
        defer { state.withLock { $0.current -= 1 } }
        // Whoever else wants to send gets the chance.
        await Task.yield()
        do {
            return try handler(request)
        } catch {
            throw .undecodableBody(reason: "\(error)")
        }
    }
}

extension Response {
    /// The service's, that it has so many events.
    static func stored(_ count: Int) -> Response {
        .test(200, [:], String(decoding: EventsResponse(accepted: count, duplicates: 0).json, as: UTF8.self))
    }

    /// A problem of the service's.
    static func problem(_ problem: Problem) -> Response {
        .test(
            problem.status, ["Content-Type": MediaType.problemJSON],
            String(decoding: problem.json, as: UTF8.self))
    }
}

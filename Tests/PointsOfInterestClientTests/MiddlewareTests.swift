import Foundation
import Locking
import PointsOfInterestClient
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A middleware that is a function.
private struct Interceptor: RequestMiddleware {
    let body: @Sendable (OutgoingRequest, RequestSender) async throws -> ServiceResponse

    func intercept(_ request: OutgoingRequest, next: RequestSender) async throws -> ServiceResponse {
        try await body(request, next)
    }
}

@Suite("Middleware", .timeLimit(.minutes(1)))
struct MiddlewareTests {
    private func service(
        _ network: MockNetwork, store: ResponseStore? = nil, headers: HeaderProvider? = nil,
        _ middleware: [any RequestMiddleware]
    ) -> PointsOfInterestService {
        PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, responseStore: store,
            retryPolicy: RetryPolicy(firstPause: .zero), headers: headers, middleware: middleware)
    }

    @Test(
        "Each attempt goes through all of them, the first one first, before the app's header fields are added"
    )
    func sees() async throws {
        let log = Lock<[String]>([])
        let fields = Lock<[String?]>([])
        let network = try MockNetwork { request in
            let count = fields.withLock { fields in
                fields.append(request.value(forHTTPHeaderField: "X-Signature"))
                return fields.count
            }
            return count == 1 ? (503, "") : (200, "[]")
        }
        func interceptor(_ name: String) -> Interceptor {
            Interceptor { request, next in
                #expect(request.endpoint == .categories)
                #expect(request.urlRequest.value(forHTTPHeaderField: "Authorization") == nil)
                var request = request
                let signature = request.urlRequest.value(forHTTPHeaderField: "X-Signature") ?? ""
                request.urlRequest.setValue(signature + name, forHTTPHeaderField: "X-Signature")
                let response = try await next(request)
                log.withLock { $0.append("\(name) \(response.head.status)") }
                return response
            }
        }
        let service = service(
            network, headers: { _ in ["Authorization": "key"] }, [interceptor("a"), interceptor("b")])
        #expect(try await service.categories() == [])
        #expect(fields.withLock { $0 } == ["ab", "ab"])
        #expect(log.withLock { $0 } == ["b 503", "a 503", "b 200", "a 200"])
    }

    @Test("What a middleware makes of a body is read, and what came is kept")
    func changesBodies() async throws {
        let network = try MockNetwork(fields: ["ETag": "\"1\"", "Content-Type": "application/json"]) {
            request in
            request.value(forHTTPHeaderField: "If-None-Match") == nil ? (200, "][") : (304, "")
        }
        let store = ResponseStore()
        let reversed = Interceptor { request, next in
            var response = try await next(request)
            response.body.reverse()
            return response
        }
        for _ in 0..<2 { #expect(try await service(network, store: store, [reversed]).categories() == []) }
        await #expect(throws: RequestError.self) {
            try await service(network, store: store, []).categories()
        }
    }

    @Test("A middleware can respond by itself")
    func responds() async throws {
        let network = try MockNetwork { _ in
            Issue.record("something was sent")
            return (200, "[]")
        }
        let own = Interceptor { _, _ in
            ServiceResponse(head: ResponseHead(status: 200), body: Data(#"[{"name":"own","count":1}]"#.utf8))
        }
        #expect(try await service(network, [own]).categories().map(\.name) == ["own"])
    }

    @Test(
        "The error of a middleware fails the request",
        arguments: [(true, URLError.Code.dataNotAllowed), (false, .unknown)])
    func fails(isOfTheSession: Bool, code: URLError.Code) async throws {
        let network = try MockNetwork(body: "{}")
        let failing = Interceptor { _, _ in
            if isOfTheSession { throw URLError(code) }
            throw CocoaError(.featureUnsupported)
        }
        let service = service(network, [failing])
        let error = await #expect(throws: RequestError.self) { try await service.health() }
        #expect(error?.urlErrorCode == code)
    }
}

@Suite("The ids of a request", .timeLimit(.minutes(1)))
struct RequestIDTests {
    @Test("A request has one id in all its attempts, and its error has that and the response's")
    func areInErrors() async throws {
        let ids = Lock<[String?]>([])
        let network = try MockNetwork(fields: ["X-Request-Id": "theirs"]) { request in
            ids.withLock { $0.append(request.value(forHTTPHeaderField: "X-Request-Id")) }
            return (503, "")
        }
        let attempts = Lock<[String?]>([])
        let service = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session,
            retryPolicy: RetryPolicy(attempts: 2, firstPause: .zero),
            observer: { attempt in attempts.withLock { $0.append(attempt.requestID) } })
        let first = try #require(await #expect(throws: RequestError.self) { try await service.categories() })
        let second = try #require(await #expect(throws: RequestError.self) { try await service.categories() })
        #expect(first == second, "their reasons are equal")
        #expect(first.requestID != second.requestID)
        #expect(
            ids.withLock { $0 } == [first.requestID, first.requestID, second.requestID, second.requestID])
        #expect(first.responseID == "theirs")
        #expect(attempts.withLock { $0 } == Array(repeating: "theirs", count: 4))
        #expect("\(first)" == "unexpectedStatus(503), request \(first.requestID ?? ""), response theirs")
    }

    @Test("Without a response there is the request's id, and without a request none")
    func mayBeAlone() async throws {
        let network = try MockNetwork { _ in throw URLError(.notConnectedToInternet) }
        let attempts = Lock<[RequestAttempt]>([])
        let service = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session,
            observer: { attempt in attempts.withLock { $0.append(attempt) } })
        let lost = try #require(await #expect(throws: RequestError.self) { try await service.categories() })
        #expect(lost.requestID?.count == 36)
        #expect(lost.responseID == nil)
        let attempt = try #require(attempts.withLock { $0.first })
        #expect(attempt.requestID == lost.requestID)
        guard case .failure(let error) = attempt.outcome else {
            Issue.record("\(attempt)")
            return
        }
        #expect(error.requestID == lost.requestID)
        let nowhere = PointsOfInterestService(baseURL: try #require(URL(string: "ftp://h")))
        let unsent = await #expect(throws: RequestError.invalidBaseURL) { try await nowhere.categories() }
        #expect(unsent?.requestID == nil)
    }
}

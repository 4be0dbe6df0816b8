import Locking
import Foundation
@testable import PointsOfInterestClient
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The service's health", .timeLimit(.minutes(1)))
struct HealthTests {
    @Test("The health is requested below the service's URL and read")
    func isRead() async throws {
        let network = try MockNetwork { request in
            let url = try #require(request.url)
            let response = try #require(
                HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil))
            let body =
                url.path == "/api/livez"
                ? #"{"status":"alive"}"#
                : #"{"status":"ready","database":"unreachable","eventsDatabase":"reachable","new":[1]}"#
            return (response, Data(body.utf8))
        }
        let service = PointsOfInterestService(
            baseURL: network.baseURL.appendingPathComponent("api"), urlSession: network.session)
        #expect(try await service.health(.liveness) == HealthReport(status: "alive"))
        #expect(
            try await service.health()
                == HealthReport(status: "ready", database: "unreachable", eventsDatabase: "reachable"))
    }

    @Test("The health is requested once, also where the service is not ready")
    func isAskedOnce() async throws {
        let count = Lock(0)
        let network = try MockNetwork { request in
            count.withLock { $0 += 1 }
            let url = try #require(request.url)
            let response = try #require(
                HTTPURLResponse(
                    url: url, statusCode: 503, httpVersion: "HTTP/1.1",
                    headerFields: ["Content-Type": "application/problem+json", "Retry-After": "1"]))
            return (response, Data(#"{"code":"not-ready","title":"T","status":503}"#.utf8))
        }
        let service = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, clock: TestClock(limit: .seconds(20)))
        let error = await #expect(throws: RequestError.self) { try await service.health() }
        guard case .problem(let problem) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(problem.code == .notReady)
        #expect(count.withLock { $0 } == 1)
    }
}

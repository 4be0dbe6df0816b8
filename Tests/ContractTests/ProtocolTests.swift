import Foundation
import PointsOfInterestClient
import Testing

@Suite("The protocol", .timeLimit(.minutes(2)))
struct ProtocolTests {
    private static let target = "/locations?lat=37.3293&long=-121.8893"

    @Test(
        "HEAD is GET without the body", .contract(.invariant),
        arguments: [target, "/livez", "/readyz", "/nowhere", "/locations?lat=91"])
    func head(target: String) async throws {
        // The length of a compressed response is not in the response to HEAD.
        let plain = ["Accept-Encoding": "identity"]
        var get = try await Service.response(to: target, headers: plain)
        var head = try await Service.response(to: target, method: "HEAD", headers: plain)
        // The state that `/readyz` tells may change in between: then both are asked for again.
        while true {
            let later = try await Service.response(to: target, headers: plain)
            if later.header("Content-Length") == get.header("Content-Length") { break }
            get = later
            head = try await Service.response(to: target, method: "HEAD", headers: plain)
        }
        #expect(head.status == get.status)
        #expect(head.body.isEmpty)
        #expect(!get.body.isEmpty)
        #expect(head.header("Content-Type") == get.header("Content-Type"))
        #expect(get.header("Content-Length") == String(get.body.count))
        #expect(head.header("Content-Length") == get.header("Content-Length"))
    }

    @Test(
        "A request's sane id comes back", .contract(.invariant),
        arguments: ["a", "7d7c2f3e-1b0a-4f8e-9c55-0a2f6f5f5e11", "A.b_c-1"])
    func requestID(id: String) async throws {
        for target in [Self.target, "/livez", "/nowhere", "/locations"] {
            let response = try await Service.response(to: target, headers: ["X-Request-Id": id])
            #expect(response.header("X-Request-Id") == id)
        }
    }

    @Test(
        "A request without a sane id gets one", .contract(.invariant),
        arguments: [nil, "two words", "quote\"", String(repeating: "x", count: 200)])
    func newRequestID(id: String?) async throws {
        let headers = id.map { ["X-Request-Id": $0] } ?? [:]
        let first = try #require(
            await Service.response(to: Self.target, headers: headers).header("X-Request-Id"))
        let second = try #require(
            await Service.response(to: Self.target, headers: headers).header("X-Request-Id"))
        #expect(!first.isEmpty)
        #expect(first != second)
        #expect(first != id)
    }

    @Test("The places are a bare JSON array", .contract(.invariant, .recorded))
    func mediaType() async throws {
        let response = try await Service.response(to: Self.target)
        #expect(response.status == 200)
        #expect(response.header("Content-Type") == "application/json")
        #expect(try JSONSerialization.jsonObject(with: response.body) is [[String: Any]])
    }

    @Test(
        "The process is alive and ready, and what tells so isn't cached", .contract(.invariant, .recorded),
        arguments: ["/livez", "/readyz"])
    func health(path: String) async throws {
        let response = try await Service.response(to: path)
        #expect(response.status == 200)
        #expect(response.header("Cache-Control") == "no-store")
        #expect(try JSONSerialization.jsonObject(with: response.body) is [String: Any])
    }
}

@Suite("The app's loader", .timeLimit(.minutes(2)))
struct LoaderTests {
    @Test("The completion handler gets what the async form returns", .contract(.invariant, .recorded))
    func completionHandler() async throws {
        let loader = try await Service.loader { PointsOfInterestRequest(baseURL: $0, limit: 5) }
        let center = try await Service.center()
        let places = try await withCheckedThrowingContinuation { continuation in
            loader.loadAPIRequest(requestData: center) { continuation.resume(with: $0) }
        }
        #expect(try await places == loader.loadAPIRequest(requestData: center))
        #expect(places.count == 5 || !Service.isSeeded)
    }

    @Test("The completion handler gets the service's problem", .contract(.invariant, .recorded))
    func completionHandlerProblem() async throws {
        let loader = try await Service.loader { PointsOfInterestRequest(baseURL: $0, limit: 0) }
        let center = try await Service.center()
        await #expect {
            try await withCheckedThrowingContinuation { continuation in
                loader.loadAPIRequest(requestData: center) { continuation.resume(with: $0) }
            }
        } throws: { error in
            guard case RequestError.problem(let problem) = error else { return false }
            return problem.code == .outOfRange && problem.errors.map(\.parameter) == ["limit"]
        }
    }

    @Test("A cancelled load ends as cancelled, and the service goes on", .contract(.invariant))
    func cancelling() async throws {
        let loader = try await Service.loader { PointsOfInterestRequest(baseURL: $0) }
        let center = try await Service.center()
        for _ in 0..<20 {
            let load = Task { try await loader.loadAPIRequest(requestData: center) }
            load.cancel()
            do {
                // A response that was faster is no fault.
                _ = try await load.value
            } catch {
                #expect(error as? RequestError == .cancelled)
            }
        }
        #expect(try await loader.loadAPIRequest(requestData: center).count == 20 || !Service.isSeeded)
    }

    @Test("A service that isn't there is a transport error", .contract(.invariant, .once))
    func nobodyThere() async throws {
        // No program listens on port 1 (tcpmux) any more.
        let url = try #require(URL(string: "http://127.0.0.1:1"))
        let loader = APIRequestLoader(apiRequest: PointsOfInterestRequest(baseURL: url))
        let center = try await Service.center()
        await #expect {
            try await loader.loadAPIRequest(requestData: center)
        } throws: { error in
            guard case RequestError.transport = error else { return false }
            return true
        }
    }
}

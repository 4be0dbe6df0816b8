import Foundation
import PointsOfInterestClient
import Testing

@Suite("The protocol", .timeLimit(.minutes(2)))
struct ProtocolTests {
    private static let target = "/locations?lat=37.3293&long=-121.8893"

    @Test(
        "HEAD is GET without the body",
        .contract(
            .invariant, in: .conventions,
            otherwise: "A monitor or a cache that asks by HEAD believes something else than apps see."),
        arguments: Service.targets + ["/livez", "/readyz", "/nowhere", "/locations?lat=91"])
    func head(target: String) async throws {
        let target = try await Service.resolved(target)
        // The length of a compressed response is not in the response to HEAD.
        let plain = ["Accept-Encoding": "identity"]
        var get = try await Service.response(to: target, headers: plain)
        var head = try await Service.response(to: target, method: "HEAD", headers: plain)
        for _ in 0..<5 where head.header("Content-Length") != get.header("Content-Length") {
            // Data, and the state that `/readyz` tells, may have changed in between.
            get = try await Service.response(to: target, headers: plain)
            head = try await Service.response(to: target, method: "HEAD", headers: plain)
        }
        #expect(head.status == get.status)
        #expect(head.body.isEmpty)
        #expect(!get.body.isEmpty)
        for name in ["Content-Type", "Cache-Control", "ETag", "Link", "Vary"] {
            #expect(head.header(name) == get.header(name), "\(name)")
        }
        // A proxy may send the body in chunks instead; a `Content-Length` is the body's length.
        for response in [get, head] {
            #expect(response.header("Content-Length").map { $0 == String(get.body.count) } ?? true)
        }
    }

    @Test(
        "A response repeats the request's id if that is acceptable",
        .contract(
            .invariant, in: .conventions, otherwise: "Nobody finds the log's line of a user's failed request."
        ),
        arguments: ["a", "7d7c2f3e-1b0a-4f8e-9c55-0a2f6f5f5e11", "A.b_c-1"])
    func requestID(id: String) async throws {
        // Each of the suite's other requests checks its own id, too.
        let response = try await Service.response(to: Self.target, headers: ["X-Request-Id": id])
        #expect(response.header("X-Request-Id") == id)
    }

    @Test(
        "A request without an acceptable id gets a new one",
        .contract(
            .invariant, in: .conventions, otherwise: "Two failed requests can't be told apart in the log."),
        arguments: [nil, "two words", "quote\"", String(repeating: "x", count: 200)])
    func newRequestID(id: String?) async throws {
        let headers = ["X-Request-Id": id]
        let first = try #require(
            await Service.response(to: Self.target, headers: headers).header("X-Request-Id"))
        let second = try #require(
            await Service.response(to: Self.target, headers: headers).header("X-Request-Id"))
        #expect(!first.isEmpty)
        #expect(first != second)
        #expect(first != id)
    }

    @Test(
        "The places are a bare JSON array",
        .contract(.invariant, .recorded, in: .locations, otherwise: "The app can't decode the list."))
    func mediaType() async throws {
        let response = try await Service.response(to: Self.target)
        #expect(response.status == 200)
        #expect(response.mediaType == "application/json")
        #expect(try JSONSerialization.jsonObject(with: response.body) is [[String: Any]])
    }

    @Test(
        "The process says that it is alive and ready, in responses that aren't cached",
        .contract(
            .invariant, in: .health,
            otherwise: "A balancer sends users to a server that is down, or to none."),
        arguments: ["/livez", "/readyz"])
    func health(path: String) async throws {
        let response = try await Service.response(to: path)
        #expect(response.status == 200)
        let state = try JSON(response.body)
        #expect(state["status"] == .string(path == "/livez" ? "alive" : "ready"))
        if path == "/readyz" {
            let description = try await Service.description().document
            #expect(state["version"] == description["info"]?["version"])
        }
    }

    @Test(
        "The date of a response is within an hour of the time now",
        .contract(
            .invariant, in: .conventions,
            otherwise: "A cache takes a new list for one that is a day old, or an old one for new."))
    func date() async throws {
        let response = try await Service.response(to: Self.target)
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        format.timeZone = TimeZone(secondsFromGMT: 0)
        let date = try #require(response.header("Date").flatMap { format.date(from: $0) })
        #expect(abs(date.timeIntervalSinceNow) < 3600)
    }

    @Test(
        "Every path has OPTIONS, whose response has the path's methods",
        .contract(
            .invariant, in: .conventions,
            otherwise: "A gateway that asks what it may pass on refuses what apps send."),
        arguments: [
            (target, ["get", "head"]), ("/locations/1", ["get", "head"]), ("/events", ["post"]),
            ("/livez", ["get", "head"]),
        ])
    func options(target: String, methods: [String]) async throws {
        let response = try await Service.response(to: target, method: "OPTIONS")
        #expect(response.status == 204)
        #expect(Set(methods).isSubset(of: response.list("Allow")))
        #expect(response.body.isEmpty)
    }
}

@Suite("The app's loader", .timeLimit(.minutes(2)))
struct LoaderTests {
    @Test(
        "The completion handler gets what the async form returns",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "Older code of the app shows another list than newer code."))
    func completionHandler() async throws {
        let loader = try await Service.loader { PointsOfInterestRequest(baseURL: $0, limit: 5) }
        let center = try await Service.center()
        let places = try await withCheckedThrowingContinuation { continuation in
            loader.loadAPIRequest(requestData: center) { continuation.resume(with: $0) }
        }
        #expect(try await places == loader.loadAPIRequest(requestData: center))
        #expect(places.count == 5 || !Service.isSeeded)
    }

    @Test(
        "The completion handler gets the service's problem",
        .contract(
            .invariant, .recorded, in: .problems,
            otherwise: "Older code of the app can't say why a request failed."))
    func completionHandlerProblem() async throws {
        let loader = try await Service.loader { PointsOfInterestRequest(baseURL: $0, limit: 0) }
        let center = try await Service.center()
        await #expect {
            try await withCheckedThrowingContinuation { continuation in
                loader.loadAPIRequest(requestData: center) { continuation.resume(with: $0) }
            }
        } throws: { error in
            guard let problem = (error as? RequestError)?.problem else { return false }
            return problem.code == .outOfRange && problem.errors.map(\.parameter) == ["limit"]
        }
    }

    @Test(
        "A cancelled load ends as cancelled, and the service goes on",
        .contract(
            .invariant, in: .conventions,
            otherwise: "A user who leaves a screen gets an error message on the next one."))
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

    @Test(
        "A service that isn't there is a transport error",
        .contract(
            .invariant, .ownSettings, in: .conventions,
            otherwise: "The app takes a network that is off for an answer of the service."))
    func nobodyThere() async throws {
        // No program listens on port 1 (tcpmux) any more.
        let url = try #require(URL(string: "http://127.0.0.1:1"))
        let loader = APIRequestLoader(apiRequest: PointsOfInterestRequest(baseURL: url))
        let center = try await Service.center()
        await #expect { try await loader.loadAPIRequest(requestData: center) } throws: { error in
            (error as? RequestError)?.urlErrorCode != nil
        }
    }
}

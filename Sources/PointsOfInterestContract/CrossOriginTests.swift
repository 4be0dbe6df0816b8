import Foundation
import PointsOfInterestClient
import Testing

@Suite("Scripts of other origins", .timeLimit(.minutes(2)))
struct CrossOriginTests {
    private static let targets = ["/locations?lat=1&long=2", "/locations?lat=91", "/nowhere", "/categories"]

    /// An origin that is let in, and how a response names it.
    private func allowed() throws -> (origin: String, name: String) {
        let first = try #require(ContractConfiguration.current.settings.origins?.first)
        return first == "*" ? ("https://anywhere.example", "*") : (first, first)
    }

    @Test(
        "An allowed origin may read every response, errors included",
        .contract(
            .invariant, in: .origins,
            otherwise: "A page of the team's own site can't read the places, or not why a request failed."),
        .needs(.origins), arguments: targets)
    func allowed(target: String) async throws {
        let (origin, name) = try allowed()
        let response = try await Service.response(to: target, headers: ["Origin": origin])
        #expect(response.header("Access-Control-Allow-Origin") == name)
        #expect(response.list("Vary").contains("origin") || name == "*")
        let exposed = response.list("Access-Control-Expose-Headers")
        #expect(response.header("Timing-Allow-Origin") == name)
        // The service uses no cookies.
        #expect(response.header("Access-Control-Allow-Credentials") == nil)
        for name in ["link", "etag", "retry-after", "x-request-id"] {
            #expect(exposed.contains(name), "\(name)")
        }
    }

    @Test(
        "A script of an origin that isn't allowed may read no response",
        .contract(
            .invariant, in: .origins,
            otherwise: "Any page on the web reads the service with what its visitor's network may reach."),
        .needs(.origins), arguments: targets)
    func refused(target: String) async throws {
        guard try allowed().name != "*" else { return }
        let response = try await Service.response(
            to: target, headers: ["Origin": "https://evil.example"])
        #expect(response.header("Access-Control-Allow-Origin") == nil)
        #expect(response.list("Vary").contains("origin"))
    }

    @Test(
        "A preflight of an allowed origin is let through, without a key",
        .contract(
            .invariant, in: .origins,
            otherwise: "A browser refuses to send the page's requests with a key."),
        .needs(.origins), arguments: ["/locations?lat=1&long=2", "/events"])
    func preflight(target: String) async throws {
        let (origin, name) = try allowed()
        let method = target == "/events" ? "POST" : "GET"
        let response = try await Service.response(
            to: target, method: "OPTIONS",
            headers: [
                "Origin": origin, "Access-Control-Request-Method": method,
                "Access-Control-Request-Headers": "authorization", "Authorization": nil,
            ])
        #expect(response.status == 204)
        #expect(response.header("Access-Control-Allow-Origin") == name)
        #expect(response.list("Access-Control-Allow-Methods").contains(method.lowercased()))
        #expect(response.list("Access-Control-Allow-Headers").contains("authorization"))
        #expect(response.header("Access-Control-Max-Age") == "7200")
    }
}

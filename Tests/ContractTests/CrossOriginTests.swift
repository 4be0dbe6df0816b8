import Foundation
import PointsOfInterestClient
import ServerProcess
import Testing

@Suite("Scripts of other origins", .timeLimit(.minutes(2)))
struct CrossOriginTests {
    private static let targets = ["/locations?lat=1&long=2", "/locations?lat=91", "/nowhere", "/categories"]

    @Test(
        "An allowed origin may read every response, errors included", .contract(.invariant, .ownSettings),
        arguments: targets)
    func allowed(target: String) async throws {
        let response = try await Service.response(to: target, headers: ["Origin": OwnServers.origin])
        #expect(response.header("Access-Control-Allow-Origin") == OwnServers.origin)
        #expect(response.header("Vary")?.lowercased().contains("origin") == true)
        let exposed = try #require(response.header("Access-Control-Expose-Headers")).lowercased()
        for name in ["link", "etag", "retry-after", "x-request-id"] { #expect(exposed.contains(name)) }
    }

    @Test("Another origin may read none", .contract(.invariant, .ownSettings), arguments: targets)
    func refused(target: String) async throws {
        let response = try await Service.response(to: target, headers: ["Origin": "https://evil.example"])
        #expect(response.header("Access-Control-Allow-Origin") == nil)
        #expect(response.header("Vary")?.lowercased().contains("origin") == true)
    }

    @Test("A preflight of an allowed origin is let through", .contract(.invariant, .ownSettings))
    func preflight() async throws {
        let response = try await Service.response(
            to: "/locations?lat=1&long=2", method: "OPTIONS",
            headers: [
                "Origin": OwnServers.origin, "Access-Control-Request-Method": "GET",
                "Access-Control-Request-Headers": "authorization",
            ])
        #expect(response.status == 204)
        #expect(response.header("Access-Control-Allow-Origin") == OwnServers.origin)
        #expect(response.header("Access-Control-Allow-Methods")?.contains("GET") == true)
        #expect(
            response.header("Access-Control-Allow-Headers")?.lowercased().contains("authorization") == true)
    }
}

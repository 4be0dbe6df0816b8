import Foundation
import PointsOfInterestClient
import Testing

@Suite("Scripts of other origins", .timeLimit(.minutes(2)))
struct CrossOriginTests {
    private static let targets = ["/locations?lat=1&long=2", "/locations?lat=91", "/nowhere", "/categories"]

    @Test(
        "An allowed origin may read every answer, errors included", .contract(.invariant, .ownSettings),
        arguments: targets)
    func allowed(target: String) async throws {
        let answer = try await Service.answer(to: target, headers: ["Origin": OwnServers.origin])
        #expect(answer.header("Access-Control-Allow-Origin") == OwnServers.origin)
        #expect(answer.header("Vary")?.lowercased().contains("origin") == true)
        let exposed = try #require(answer.header("Access-Control-Expose-Headers")).lowercased()
        for name in ["link", "etag", "retry-after", "x-request-id"] { #expect(exposed.contains(name)) }
    }

    @Test("Another origin may read none", .contract(.invariant, .ownSettings), arguments: targets)
    func refused(target: String) async throws {
        let answer = try await Service.answer(to: target, headers: ["Origin": "https://evil.example"])
        #expect(answer.header("Access-Control-Allow-Origin") == nil)
        #expect(answer.header("Vary")?.lowercased().contains("origin") == true)
    }

    @Test("A preflight of an allowed origin is let through", .contract(.invariant, .ownSettings))
    func preflight() async throws {
        let answer = try await Service.answer(
            to: "/locations?lat=1&long=2", method: "OPTIONS",
            headers: [
                "Origin": OwnServers.origin, "Access-Control-Request-Method": "GET",
                "Access-Control-Request-Headers": "authorization",
            ])
        #expect(answer.status == 204)
        #expect(answer.header("Access-Control-Allow-Origin") == OwnServers.origin)
        #expect(answer.header("Access-Control-Allow-Methods")?.contains("GET") == true)
        #expect(answer.header("Access-Control-Allow-Headers")?.lowercased().contains("authorization") == true)
    }
}

import Foundation
import PointsOfInterestClient
import Testing

@Suite("Keys and limits", .timeLimit(.minutes(2)))
struct KeyTests {
    struct Guarded: Sendable, CustomTestStringConvertible {
        let target: String
        let isEvents: Bool

        var testDescription: String { target }

        static let all =
            [
                "/locations?lat=37.3293&long=-121.8893", "/locations/1", "/categories", "/attributions",
                "/locations/clusters?zoom=0&bbox=-180,-90,180,90",
            ].map { Guarded(target: $0, isEvents: false) } + [Guarded(target: "/events", isEvents: true)]

        func response(key: String?) async throws -> Exchange {
            try await Service.response(
                to: target, method: isEvents ? "POST" : "GET",
                headers: [
                    "Authorization": key.map { "Bearer \($0)" },
                    "Content-Type": isEvents ? "application/json" : nil,
                ], body: isEvents ? Data("[]".utf8) : nil)
        }
    }

    @Test(
        "A request without the key that it needs gets 401 with WWW-Authenticate",
        .contract(
            .invariant, in: .keys,
            otherwise: "The app takes a missing key for one that is no longer valid, or everybody may read."),
        .needs(.keys), arguments: Guarded.all)
    func noKey(guarded: Guarded) async throws {
        let response = try await guarded.response(key: nil)
        #expect(response.status == 401)
        #expect(try response.problem.code == .unauthorized)
        let challenge = response.header("WWW-Authenticate")?.lowercased()
        #expect(challenge?.hasPrefix("bearer") == true)
        // RFC 6750, section 3.1: no error code where no key was sent.
        #expect(challenge?.contains("error") == false)
    }

    @Test(
        "A request with a wrong key, or with the key for something else, gets 401 with invalid_token",
        .contract(
            .invariant, in: .keys,
            otherwise: "A key that was leaked for events also reads places, or the app never renews its key."),
        .needs(.keys), arguments: Guarded.all)
    func wrongKey(guarded: Guarded) async throws {
        let keys = try #require(ContractConfiguration.current.keys)
        let right = guarded.isEvents ? keys.events : keys.data
        let other = guarded.isEvents ? keys.data : keys.events
        for key in ["contract-test-wrong-key", String(right.dropLast()), right + "x", other] {
            let response = try await guarded.response(key: key)
            #expect(response.status == 401)
            #expect(try response.problem.code == .unauthorized)
            #expect(response.header("WWW-Authenticate")?.contains("error=\"invalid_token\"") == true)
        }
    }

    @Test(
        "The client throws the problem of a key that is refused",
        .contract(.invariant, in: .keys, otherwise: "The app can't tell its user to sign in again."),
        .needs(.keys))
    func client() async throws {
        let service = try await Service.client { _ in ContractKeys.header("contract-test-wrong-key") }
        await #expect { try await service.categories() } throws: { error in
            guard let problem = (error as? RequestError)?.problem else { return false }
            return problem.code == .unauthorized
        }
    }

    @Test(
        "Health, the description, the pages of problems and the start page need no key",
        .contract(
            .invariant, in: .keys,
            otherwise:
                "A balancer takes every server out of service, and a developer can't read the description."),
        arguments: ["/livez", "/readyz", "/openapi.json", "/problems", "/problems/unauthorized", "/"])
    func open(target: String) async throws {
        let response = try await Service.response(to: target, headers: ["Authorization": nil])
        #expect(response.status == 200)
    }

    @Test(
        "A client that sends too much gets a 429 that says how long to wait",
        .contract(
            .invariant, in: .keys,
            otherwise: "Apps try again at once and all together, and make it worse."),
        .needs(.limitedAddress))
    func tooMany() async throws {
        let address = try #require(ContractConfiguration.current.limitedURL)
        var response = try await Service.response(to: "/categories", at: address)
        // Requests of an earlier run may count, so that the first one here is refused.
        if response.status == 200 { response = try await Service.response(to: "/categories", at: address) }
        #expect(response.status == 429)
        // A balancer that asks for health uses up nobody's share.
        #expect(try await Service.response(to: "/livez", at: address).status == 200)
        #expect(try response.problem.code == .tooManyRequests)
        let seconds = try #require(response.header("Retry-After").flatMap { Int($0) })
        #expect(seconds > 0)
    }
}

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
        let response = try await Service.response(to: target, headers: ["Origin": "https://evil.example"])
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

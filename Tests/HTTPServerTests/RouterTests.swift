@testable import HTTPServer
import Testing

@Suite("Router")
struct RouterTests {
    private func router() -> HTTPRouter {
        let router = HTTPRouter()
        for template in ["/", "/locations", "/locations/{id}", "/locations/nearest/x", "/a/{b}/c/{d}"] {
            router.add(.get, template) { _, context in
                let values = ["id", "b", "d"].compactMap { context.pathParameter($0) }
                return .text(.ok, "\(template) \(values)")
            }
        }
        router.add(.post, "/locations") { _, _ in HTTPResponse(.created) }
        return router
    }

    private func send(_ method: HTTPMethod, _ target: String) async throws -> (
        String, HTTPResponse, String?
    ) {
        let context = RequestContext(requestID: "test")
        let request = try HTTPRequest(method: method, target: target)
        let response = try await router().respond(to: request, context: context)
        return (String(decoding: response.body, as: UTF8.self), response, context.routeTemplate)
    }

    @Test(
        "A path finds its template, and an exact segment wins over a parameter",
        arguments: [
            ("/", "/ []", "/"), ("/locations?x", "/locations []", "/locations"),
            ("/locations/7", "/locations/{id} [\"7\"]", "/locations/{id}"),
            ("/locations/nearest", "/locations/{id} [\"nearest\"]", "/locations/{id}"),
            ("/locations/nearest/x", "/locations/nearest/x []", "/locations/nearest/x"),
            ("/a/1/c/2", "/a/{b}/c/{d} [\"1\", \"2\"]", "/a/{b}/c/{d}"),
            ("/locations/caf%C3%A9%2F", "/locations/{id} [\"café/\"]", "/locations/{id}"),
            ("http://h", "/ []", "/"),
        ])
    func finds(target: String, body: String, template: String) async throws {
        let response = try await send(.get, target)
        #expect(response.0 == body)
        #expect(response.2 == template)
    }

    @Test(
        "A path that a template only begins like isn't found",
        arguments: ["/locations/nearest/y", "/a/1/c/", "/a//c/2", "/locations//"])
    func notFound(target: String) async throws {
        await #expect(throws: HTTPError(.notFound, .unknownPath, "There is nothing at this path.")) {
            try await send(.get, target)
        }
    }

    @Test("A request passes its route's checks in their order, up to the first that refuses it")
    func checks() async throws {
        let router = HTTPRouter()
        let log = CheckLog()
        let checks = [Check("a", log), Check("b", log, refuses: true), Check("c", log)]
        router.add(.get, "/checked", checks: checks) { _, _ in .text(.ok, "") }
        router.add(.get, "/free") { _, _ in .text(.ok, "") }
        let error = await #expect(throws: HTTPError.self) {
            try await router.respond(
                to: try HTTPRequest(method: .get, target: "/checked"),
                context: RequestContext(requestID: "test"))
        }
        #expect(error?.code == .unauthorized)
        #expect(log.names == ["a", "b"])
        let free = try await router.respond(
            to: try HTTPRequest(method: .get, target: "/free"), context: RequestContext(requestID: "test"))
        #expect(free.status == .ok)
        #expect(log.names == ["a", "b"])
    }

    @Test("A route accepts a body up to its limit, which is 0 unless it says otherwise")
    func bodyLimits() async throws {
        let router = HTTPRouter()
        router.add(.get, "/") { _, _ in .text(.ok, "") }
        router.add(.post, "/", maximumBodyBytes: 3) { request, _ in HTTPResponse(.ok, body: request.body) }
        func status(_ method: HTTPMethod, _ length: Int) async throws -> HTTPStatus {
            let request = try HTTPRequest(
                method: method, target: "/", body: [UInt8](repeating: 0, count: length))
            do {
                return try await router.respond(to: request, context: RequestContext(requestID: "test"))
                    .status
            } catch let error as HTTPError {
                return error.status
            }
        }
        #expect(try await status(.get, 0) == .ok)
        #expect(try await status(.get, 1) == .contentTooLarge)
        #expect(try await status(.post, 3) == .ok)
        #expect(try await status(.post, 4) == .contentTooLarge)
    }

    @Test("A limit of requests in flight counts a request until its context is released or gone")
    func inFlightLimit() throws {
        let limit = InFlightLimit(1)
        let request = try HTTPRequest(method: .get, target: "/")
        do {
            let context = RequestContext(requestID: "test")
            try limit.check(request, context: context)
            #expect(limit.count == 1)
            #expect(throws: HTTPError.self) {
                try limit.check(request, context: RequestContext(requestID: "other"))
            }
            context.release()
            #expect(limit.count == 0)
            context.release()
            #expect(limit.count == 0, "once")
            try limit.check(request, context: context)
        }
        #expect(limit.count == 0, "the context is gone")
    }
}

private final class CheckLog {
    var names: [String] = []
}

private struct Check: HTTPRequestCheck {
    let name: String
    let log: CheckLog
    let refuses: Bool

    init(_ name: String, _ log: CheckLog, refuses: Bool = false) {
        self.name = name
        self.log = log
        self.refuses = refuses
    }

    func check(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) {
        log.names.append(name)
        if refuses { throw HTTPError(.unauthorized, .unauthorized, "refused") }
    }
}

import HTTPServer
import Testing

@Suite("The router")
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

    private func answer(_ method: HTTPMethod, _ target: String) async throws -> (
        String, HTTPResponse, String?
    ) {
        let context = RequestContext(requestID: "test")
        let request = try HTTPRequest(method: method, target: target)
        let response = try await router().respond(to: request, context: context)
        return (String(decoding: response.body, as: UTF8.self), response, context.routeTemplate)
    }

    @Test(
        "A path finds its template, an exact segment before a parameter",
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
        let answer = try await answer(.get, target)
        #expect(answer.0 == body)
        #expect(answer.2 == template)
    }

    @Test(
        "Nothing is normalised",
        arguments: [
            "/locations/", "//locations", "/locations//", "/./locations", "/x/../locations", "/LOCATIONS",
            "/%6cocations", "/locations/nearest/y", "/a/1/c/", "/a//c/2",
        ])
    func notFound(target: String) async throws {
        await #expect(throws: HTTPError(.notFound, .notFound, "There is nothing at this path.")) {
            try await answer(.get, target)
        }
    }

    @Test(
        "A parameter that is not well encoded is a 400",
        arguments: ["/locations/%", "/locations/%zz", "/locations/%4", "/locations/%FF", "/locations/a%00b"])
    func badEncoding(target: String) async throws {
        await #expect(
            throws: HTTPError(.badRequest, .invalidPathEncoding, "A path parameter that is not well encoded.")
        ) {
            try await answer(.get, target)
        }
    }

    @Test("A path without the method is a 405 that says what is allowed")
    func methodNotAllowed() async throws {
        let error = await #expect(throws: HTTPError.self) { try await answer(.delete, "/locations") }
        #expect(error?.status == .methodNotAllowed)
        #expect(error?.headers.first(.allow) == "GET, HEAD, OPTIONS, POST")
    }

    @Test("HEAD is answered by GET's route, OPTIONS by what is allowed")
    func implicitMethods() async throws {
        #expect(try await answer(.head, "/locations").0 == "/locations []")
        let options = try await answer(.options, "/locations/7")
        #expect(options.1.status == .noContent)
        #expect(options.1.headers.first(.allow) == "GET, HEAD, OPTIONS")
        #expect(try await answer(.options, "*").1.status == .noContent)
    }

    @Test("Middleware stands around the routes of its group only, the first outermost")
    func groups() async throws {
        let router = HTTPRouter()
        router.grouped(Tag("a"), Tag("b")).add(.get, "/in") { _, _ in .text(.ok, "") }
        router.add(.get, "/out") { _, _ in .text(.ok, "") }
        let context = RequestContext(requestID: "test")
        let inside = try await router.respond(
            to: try HTTPRequest(method: .get, target: "/in"), context: context)
        #expect(inside.headers.all("X-Tag") == ["b", "a"])
        let outside = try await router.respond(
            to: try HTTPRequest(method: .get, target: "/out"), context: context)
        #expect(outside.headers.all("X-Tag") == [])
    }

    @Test("Error mapping inside other middleware lets that see answers only")
    func errorMapping() async throws {
        let handler = HTTPRouter().wrapped(in: [Tag("a"), ErrorMapping(PlainTextErrorResponder())])
        let response = try await handler.respond(
            to: try HTTPRequest(method: .get, target: "/nowhere"), context: RequestContext(requestID: "test"))
        #expect(response.status == .notFound)
        #expect(response.headers.all("X-Tag") == ["a"])
    }

    @Test("A limit of requests in flight counts those that fail only while they run")
    func inFlightLimit() async throws {
        let limit = InFlightLimit(1)
        let handler = HTTPRouter().wrapped(in: [limit])
        let request = try HTTPRequest(method: .get, target: "/nowhere")
        for _ in 0..<3 {
            let error = await #expect(throws: HTTPError.self) {
                try await handler.respond(to: request, context: RequestContext(requestID: "test"))
            }
            #expect(error?.status == .notFound)
        }
        #expect(limit.count == 0)
    }
}

private struct Tag: HTTPMiddleware {
    let name: String

    init(_ name: String) {
        self.name = name
    }

    func respond(
        to request: HTTPRequest, context: RequestContext, next: any HTTPHandler
    ) async throws -> HTTPResponse {
        var response = try await next.respond(to: request, context: context)
        response.headers.add("X-Tag", name)
        return response
    }
}

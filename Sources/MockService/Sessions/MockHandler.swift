import EventLoop
import HTTPServer
import POIService
import PointsOfInterestAPI

/// All that a mock answers: the service, the same below the prefix of each session, and the mock's own requests.
///
/// Belongs to one loop.
final class MockHandler: HTTPDispatcher, HTTPHandler {
    private let service: ServiceHandler
    private let sessions: SessionTable
    private let sessionRoutes: HTTPRouter
    private let errorResponder: any HTTPErrorResponder

    /// - Parameter makeService: makes the real service over a store of its own.
    init(
        loop: EventLoop, fixtures: Fixtures, maximumSessionCount: Int,
        errorResponder: any HTTPErrorResponder, makeService: @escaping (Fixtures) -> ServiceHandler
    ) {
        let service = makeService(fixtures)
        self.service = service
        self.errorResponder = errorResponder
        sessions = SessionTable(limit: maximumSessionCount) {
            MockSession(loop: loop, fixtures: fixtures, makeService: makeService)
        }
        let templates = service.routeTemplates
        sessionRoutes = SessionRoutes.router(sessions) { path in
            templates.contains { $0 == path || PathTemplate($0).matches(path) }
        }
    }

    /// Lets nobody wait for the app's next request any more: the mock is about to end.
    func drain() {
        sessions.close()
    }

    /// Counts a request that can't be read, as the service does.
    func refusal(ofMalformedRequest context: RequestContext) -> HTTPError? {
        service.refusal(ofMalformedRequest: context)
    }

    /// What is below the prefix is admitted by its session, which has to see it whole.
    func admit(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) -> HTTPAdmission {
        guard SessionTarget.isBelowPrefix(request) else {
            return try service.admit(request, context: context)
        }
        return HTTPAdmission(self, maximumBodyBytes: HTTPLimits().bodyBytes)
    }

    /// Answers below the prefix of the sessions, and lets each answer end its connection.
    ///
    /// On a connection that was kept a network stack may send a request again by itself when it is lost (RFC 9112,
    /// section 9.3.1), and a fault that was meant for the app would never reach it. A new connection's first
    /// request is sent once.
    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        var response: HTTPResponse
        do {
            response = try await answer(request, context)
        } catch {
            response = errorResponder.response(to: error, context: context)
        }
        response.headers.add(.connection, "close")
        return response
    }

    private func answer(_ request: HTTPRequest, _ context: RequestContext) async throws -> HTTPResponse {
        guard sessionRoutes.allowedMethods(for: request) == nil, let target = SessionTarget(request) else {
            return try await sessionRoutes.respond(to: request, context: context)
        }
        return try await sessions.session(named: target.name)
            .respond(to: request, at: target, context: context)
    }
}

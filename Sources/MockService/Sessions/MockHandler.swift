import EventLoop
import HTTPServer
import POIService
import PointsOfInterestAPI

/// All that a mock answers: the service, the same below the prefix of each session, and the mock's own requests.
///
/// Belongs to one loop.
final class MockHandler: HTTPHandler {
    private let service: any HTTPHandler
    private let sessions: SessionTable
    private let sessionRoutes: HTTPRouter

    /// - Parameter makeService: makes the real service over a store of its own.
    init(
        loop: EventLoop, fixtures: Fixtures, greatestSessionCount: Int,
        makeService: @escaping (Fixtures) -> ServiceHandler
    ) {
        let service = makeService(fixtures)
        self.service = service
        sessions = SessionTable(limit: greatestSessionCount) {
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

    func handler(
        for request: HTTPRequest, context: RequestContext
    ) throws(HTTPError) -> any HTTPHandler {
        if sessionRoutes.allowedMethods(for: request) != nil {
            return try sessionRoutes.handler(for: request, context: context)
        }
        guard let target = SessionTarget(request) else {
            return try service.handler(for: request, context: context)
        }
        return ClosureHandler { [sessions] request, context in
            try await sessions.session(named: target.name).respond(to: request, at: target, context: context)
        }
    }

    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        try await handler(for: request, context: context).respond(to: request, context: context)
    }
}

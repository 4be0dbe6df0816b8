import EventLoop
import HTTPServer
import MockServerAPI
import POIService
import PointsOfInterestAPI

/// Serves the service, the same service for each session below the session's prefix, and the mock's own requests. Belongs to
/// one loop.
final class MockDispatcher: HTTPDispatcher, WaitingHandler {
    private let service: ServiceDispatcher
    /// The faults of the service without a prefix: those of the program's scenario.
    private var faults: FaultPlan
    private let sessions: SessionTable
    private let sessionRoutes: HTTPRouter
    private let errorResponder: any HTTPErrorResponder

    init(
        loop: EventLoop, fixtures: Fixtures, scenario: MockScenario, maximumSessionCount: Int,
        errorResponder: any HTTPErrorResponder,
        makeService: @escaping (Fixtures, MemoryReportStore) -> ServiceDispatcher
    ) {
        let service = makeService(fixtures.served(in: scenario), MemoryReportStore())
        self.service = service
        faults = FaultPlan(scenario.rules)
        self.errorResponder = errorResponder
        sessions = SessionTable(limit: maximumSessionCount) {
            MockSession(loop: loop, fixtures: fixtures, scenario: scenario, makeService: makeService)
        }
        let templates = service.routeTemplates
        sessionRoutes = SessionRoutes.router(sessions) { path in
            templates.contains { $0 == path || PathTemplate($0).matches(path) }
        }
    }

    /// The mock is about to end.
    func drain() {
        sessions.close()
    }

    func refusal(ofMalformedRequest context: RequestContext) -> HTTPError? {
        service.refusal(ofMalformedRequest: context)
    }

    /// Admits what is below a session's prefix without the service's checks: the session sees every request, whole.
    func admit(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) -> HTTPAdmission {
        guard SessionTarget.isBelowPrefix(request) else {
            guard let rule = faults.rule(for: request, path: request.path) else {
                return try service.admit(request, context: context)
            }
            return HTTPAdmission(
                FaultyHandler(rule: rule, service: service), maximumBodyBytes: HTTPLimits().bodyBytes)
        }
        return HTTPAdmission(self, maximumBodyBytes: HTTPLimits().bodyBytes)
    }

    /// Responds below the prefix of the sessions, and closes the connection after each response.
    ///
    /// When a request is lost on a persistent connection, a network stack may send it again by itself (RFC 9112,
    /// section 9.3.1), and the app would never see the fault that was meant for it. The first request of a new
    /// connection is sent only once.
    func response(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        var response: HTTPResponse
        do {
            response = try await route(request, context)
        } catch {
            response = errorResponder.response(to: error, context: context)
        }
        response.headers.add(.connection, "close")
        return response
    }

    private func route(_ request: HTTPRequest, _ context: RequestContext) async throws -> HTTPResponse {
        guard sessionRoutes.allowedMethods(for: request) == nil, let target = SessionTarget(request) else {
            return try await sessionRoutes.respond(to: request, context: context)
        }
        return try await sessions.session(named: target.name)
            .respond(to: request, at: target, context: context)
    }
}

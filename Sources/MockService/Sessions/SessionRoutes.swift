import Foundation
import HTTPServer
import MockServerAPI
import PointsOfInterestServerAPI

/// The mock's own requests, with which a test prepares its session and reads the app's requests.
enum SessionRoutes {
    private static let maximumBodyBytes = HTTPLimits().bodyBytes

    /// The router of these requests.
    ///
    /// - Parameter isRoute: whether the service has a route for a path or a template.
    static func router(_ sessions: SessionTable, isRoute: @escaping (String) -> Bool) -> HTTPRouter {
        let router = HTTPRouter()
        router.add(.get, MockPath.sessions) { _, _ in try .json(sessions.names) }
        router.add(.delete, MockPath.session) { _, context in
            sessions.end(context.pathParameter("name") ?? "")
            return HTTPResponse(.noContent)
        }
        addFixtures(to: router, sessions)
        addFaults(to: router, sessions, isRoute)
        addScenario(to: router, sessions)
        addJournal(to: router, sessions)
        return router
    }

    private static func addFixtures(to router: HTTPRouter, _ sessions: SessionTable) {
        router.add(.put, MockPath.session + MockPath.fixtures, maximumBodyBytes: maximumBodyBytes) {
            request, context in
            let fixtures: Fixtures
            do throws(FixtureError) {
                fixtures = try Fixtures(json: request.body)
            } catch {
                throw MockProblem.invalid("fixtures", error.faults)
            }
            try sessions.session(of: context).use(fixtures)
            return HTTPResponse(.noContent)
        }
    }

    private static func addFaults(
        to router: HTTPRouter, _ sessions: SessionTable, _ isRoute: @escaping (String) -> Bool
    ) {
        let path = MockPath.session + MockPath.faults
        router.add(.get, path) { _, context in try .json(sessions.session(of: context).faults.states) }
        router.add(.put, path, maximumBodyBytes: maximumBodyBytes) { request, context in
            let rules = try FaultRules(json: request.body, isRoute: isRoute).rules
            try sessions.session(of: context).faults = FaultPlan(rules)
            return HTTPResponse(.noContent)
        }
        router.add(.delete, path) { _, context in
            try sessions.session(of: context).faults = FaultPlan()
            return HTTPResponse(.noContent)
        }
    }

    private static func addScenario(to router: HTTPRouter, _ sessions: SessionTable) {
        router.add(.put, MockPath.session + MockPath.scenario, maximumBodyBytes: maximumBodyBytes) {
            request, context in
            let change = try MockProblem.decode(MockScenarioChange.self, from: request.body, as: "scenario")
            try sessions.session(of: context).use(change.scenario)
            return HTTPResponse(.noContent)
        }
    }

    private static func addJournal(to router: HTTPRouter, _ sessions: SessionTable) {
        let path = MockPath.session + MockPath.requests
        router.add(.get, path) { request, context in
            let query = try journalQuery(of: request)
            return try .json(await sessions.session(of: context).journal.requests(query))
        }
        router.add(.delete, path) { _, context in
            try sessions.session(of: context).journal.removeAll()
            return HTTPResponse(.noContent)
        }
    }

    private static func journalQuery(of request: HTTPRequest) throws(ParameterError) -> MockJournalQuery {
        do {
            return try MockJournalQuery(query: request.query ?? "")
        } catch {
            let fault = ParameterFault(
                parameter: error.parameter, code: .badRequest, detail: error.detail)
            throw ParameterError(faults: [fault])
        }
    }
}

extension SessionTable {
    fileprivate func session(of context: RequestContext) throws(MockProblem) -> MockSession {
        try session(named: context.pathParameter("name") ?? "")
    }
}

extension HTTPResponse {
    /// A response with a value as JSON. It is for the mock's own requests, which needn't be fast.
    fileprivate static func json(_ value: some Encodable) throws -> HTTPResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return HTTPResponse(
            .ok, headers: [.contentType: MediaType.json, .cacheControl: "no-store"],
            body: Array(try encoder.encode(value)))
    }
}

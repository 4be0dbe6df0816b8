import Foundation
import HTTPServer
import MockServerAPI
import POIService
import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// The mock's own requests, with which a test prepares its session and reads the app's requests.
enum SessionRoutes {
    private static let maximumBodyBytes = HTTPLimits().bodyBytes

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
        router.add(.get, MockPath.session + MockPath.reports) { _, context in
            try .json(sessions.session(of: context).reports.reports)
        }
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
    /// For the mock's own requests, which needn't be fast.
    fileprivate static func json(_ value: some Encodable) throws -> HTTPResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return HTTPResponse(
            .ok, headers: [.contentType: MediaType.json, .cacheControl: "no-store"],
            body: Array(try encoder.encode(value)))
    }
}

/// Why the mock refused a request to the mock itself, as opposed to one to the service.
struct MockProblem: Error, Hashable {
    /// Without the request's id.
    let problem: Problem

    private init(
        _ status: Int, _ title: String, _ code: String, _ detail: String, faults: [DocumentFault] = []
    ) {
        var problem = Problem(ProblemCode(rawValue: code), status: status, detail: detail)
        // The service has no pages for the mock's problems (RFC 9457, section 4.2.1).
        problem.type = "about:blank"
        problem.title = title
        problem.errors = faults.prefix(100).map {
            ParameterFault(parameter: $0.path, code: problem.code, detail: $0.detail)
        }
        self.problem = problem
    }

    /// With every fault that was found in the body.
    static func invalid(_ subject: String, _ faults: [DocumentFault]) -> MockProblem {
        let detail = faults.first.map { "\($0)" } ?? "the document can't be used"
        return MockProblem(422, "Unprocessable Content", "invalid-\(subject)", detail, faults: faults)
    }

    static func decode<Document: Decodable>(
        _ type: Document.Type, from json: [UInt8], as subject: String
    ) throws(MockProblem) -> Document {
        do {
            if let fault = DocumentFault.longName(in: json) { throw invalid(subject, [fault]) }
            return try JSONDecoder().decode(type, from: Data(json))
        } catch let problem as MockProblem {
            throw problem
        } catch {
            throw invalid(subject, [DocumentFault(anyError: error)])
        }
    }

    static let invalidName = MockProblem(
        404, "Not Found", "invalid-session-name",
        "A session's name has 1 to 64 characters of A-Z a-z 0-9 . _ -")

    static func tooManySessions(_ limit: Int) -> MockProblem {
        MockProblem(
            507, "Insufficient Storage", "too-many-sessions",
            "There are already \(limit) sessions: end one by DELETE, or raise POI_MAX_SESSIONS."
        )
    }
}

/// Makes responses to errors: to the mock's own, and by the service's responder to all others.
struct MockErrorResponder: HTTPErrorResponder {
    let service: ProblemResponder

    func response(to error: any Error, context: RequestContext) -> HTTPResponse {
        guard var problem = (error as? MockProblem)?.problem else {
            return service.response(to: error, context: context)
        }
        problem.requestId = context.requestID
        return HTTPResponse(problem)
    }
}

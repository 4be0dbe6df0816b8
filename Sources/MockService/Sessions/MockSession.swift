import EventLoop
import HTTPServer
import MockServerAPI
import POIService

/// The mock as one simulator sees it, with fixtures, faults and a journal of its own. Belongs to one loop.
final class MockSession {
    var faults = FaultPlan()
    let journal: Journal
    /// What was reported, whatever places the session has had.
    let reports = MemoryReportStore()

    private let makeService: (Fixtures, MemoryReportStore) -> ServiceDispatcher
    private var service: ServiceDispatcher
    private var fixtures: Fixtures
    private var hasPlaces: Bool

    init(
        loop: EventLoop, fixtures: Fixtures, scenario: MockScenario,
        makeService: @escaping (Fixtures, MemoryReportStore) -> ServiceDispatcher
    ) {
        journal = Journal(loop: loop)
        faults = FaultPlan(scenario.rules)
        self.makeService = makeService
        self.fixtures = fixtures
        hasPlaces = scenario.hasPlaces
        service = makeService(fixtures.served(in: scenario), reports)
    }

    /// Serves these places from now on, whatever the scenario is; requests in flight still get the old ones.
    func use(_ fixtures: Fixtures) {
        self.fixtures = fixtures
        hasPlaces = true
        service = makeService(fixtures, reports)
    }

    /// Makes the scenario's rules the session's, and hides its places or shows them again.
    func use(_ scenario: MockScenario) {
        faults = FaultPlan(scenario.rules)
        // A new service wouldn't have the events that this one got, so it is made only if the places change.
        guard scenario.hasPlaces != hasPlaces else { return }
        hasPlaces = scenario.hasPlaces
        service = makeService(fixtures.served(in: scenario), reports)
    }

    func respond(
        to request: HTTPRequest, at target: SessionTarget, context: RequestContext
    ) async throws -> HTTPResponse {
        let rule = faults.rule(for: request, path: target.path)
        let id = journal.begin(request, target: target.target, fault: rule?.fault?.kind)
        do {
            let response = try await FaultyHandler(rule: rule, service: service)
                .response(
                    to: HTTPRequest(
                        method: request.method, target: target.target, headers: request.headers,
                        body: request.body),
                    context: context)
            journal.end(id, status: rule?.fault == .reset ? nil : response.status.code)
            return response
        } catch {
            journal.end(id, status: nil)
            throw error
        }
    }
}

extension Fixtures {
    func served(in scenario: MockScenario) -> Fixtures { scenario.hasPlaces ? self : .none }
}

/// A mock's sessions by their names. Belongs to one loop.
final class SessionTable {
    private let limit: Int
    private let makeSession: () -> MockSession
    private var sessions: [String: MockSession] = [:]
    private var isClosed = false

    init(limit: Int, makeSession: @escaping () -> MockSession) {
        self.limit = limit
        self.makeSession = makeSession
    }

    var names: [String] { sessions.keys.sorted() }

    /// Makes the session if there is none yet.
    func session(named name: String) throws(MockProblem) -> MockSession {
        if let session = sessions[name] { return session }
        guard MockPath.isSessionName(name) else { throw .invalidName }
        guard sessions.count < limit else { throw .tooManySessions(limit) }
        let session = makeSession()
        if isClosed { session.journal.close() }
        sessions[name] = session
        return session
    }

    /// Ends a session; the next use of its name makes a new one.
    func end(_ name: String) {
        sessions.removeValue(forKey: name)?.journal.close()
    }

    func close() {
        isClosed = true
        for session in sessions.values { session.journal.close() }
    }
}

/// A request's target below the prefix of a session: the session, and the target as the service sees it.
struct SessionTarget {
    /// Not validated yet.
    let name: String
    /// Path and query below the prefix; never empty.
    let target: String
    let path: String

    private static let prefix = MockPath.sessions + "/"

    /// Whether a request belongs to a session or is about sessions.
    static func isBelowPrefix(_ request: HTTPRequest) -> Bool {
        request.path == MockPath.sessions || request.path.hasPrefix(prefix)
    }

    /// Nil if the target belongs to no session.
    init?(_ request: HTTPRequest) {
        let path = request.path
        guard path.hasPrefix(Self.prefix) else { return nil }
        let rest = path.dropFirst(Self.prefix.count)
        let name = rest.prefix { $0 != "/" }
        self.name = String(name)
        self.path = name.endIndex == rest.endIndex ? "/" : String(rest[name.endIndex...])
        target = self.path + (request.query.map { "?" + $0 } ?? "")
    }
}

import EventLoop
import HTTPServer
import MockServerAPI
import POIService

/// One simulator's share of a mock: fixtures, faults and a journal of its own. Belongs to one loop.
final class MockSession {
    /// What was made to go wrong, and how often it did.
    var faults = FaultPlan()
    /// What the app has asked.
    let journal: Journal

    private let makeService: (Fixtures) -> ServiceHandler
    private var service: ServiceHandler

    /// - Parameter makeService: makes the real service over a store of these places, and of no other session's.
    init(loop: EventLoop, fixtures: Fixtures, makeService: @escaping (Fixtures) -> ServiceHandler) {
        journal = Journal(loop: loop)
        self.makeService = makeService
        service = makeService(fixtures)
    }

    /// Answers with other places from now on; requests under way still get the old ones.
    func use(_ fixtures: Fixtures) {
        service = makeService(fixtures)
    }

    /// What the service answers to a request, and what was made to go wrong with that.
    func respond(
        to request: HTTPRequest, at target: SessionTarget, context: RequestContext
    ) async throws -> HTTPResponse {
        let rule = faults.rule(forMethod: request.method.rawValue, path: target.path)
        let id = journal.begin(request, target: target.target, fault: rule?.fault?.kind)
        do {
            let response = try await FaultyHandler(rule: rule, service: service)
                .respond(to: request.asked(of: target.target), context: context)
            journal.end(id, status: response.transmission == .reset ? nil : response.status.code)
            return response
        } catch {
            journal.end(id, status: nil)
            throw error
        }
    }
}

extension HTTPRequest {
    /// The same request with another target.
    fileprivate func asked(of target: String) throws(HTTPError) -> HTTPRequest {
        try HTTPRequest(method: method, target: target, headers: headers, body: body)
    }
}

/// A mock's sessions by their names. Belongs to one loop.
final class SessionTable {
    private let limit: Int
    private let makeSession: () -> MockSession
    private var sessions: [String: MockSession] = [:]
    private var isClosed = false

    /// - Parameter limit: the most sessions there may be.
    init(limit: Int, makeSession: @escaping () -> MockSession) {
        self.limit = limit
        self.makeSession = makeSession
    }

    /// The names of the sessions that there are, sorted.
    var names: [String] { sessions.keys.sorted() }

    /// The session of a name, made where there is none yet.
    func session(named name: String) throws(MockProblem) -> MockSession {
        if let session = sessions[name] { return session }
        guard MockPath.isSessionName(name) else { throw .invalidName }
        guard sessions.count < limit else { throw .tooManySessions(limit) }
        let session = makeSession()
        if isClosed { session.journal.close() }
        sessions[name] = session
        return session
    }

    /// Ends a session; its name begins anew with its next use.
    func end(_ name: String) {
        sessions.removeValue(forKey: name)?.journal.close()
    }

    /// Lets nobody wait any more.
    func close() {
        isClosed = true
        for session in sessions.values { session.journal.close() }
    }
}

/// A request's target below the prefix of a session: whose it is, and what the service would have been asked.
struct SessionTarget {
    /// The session's name, not checked yet.
    let name: String
    /// Path and query below the prefix; never empty.
    let target: String
    /// The path below the prefix.
    let path: String

    private static let prefix = MockPath.sessions + "/"

    /// Whether a request is a session's, or about sessions.
    static func isBelowPrefix(_ request: HTTPRequest) -> Bool {
        request.path == MockPath.sessions || request.path.hasPrefix(prefix)
    }

    /// Takes a request's target apart; nil where it is no session's.
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

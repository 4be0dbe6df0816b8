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

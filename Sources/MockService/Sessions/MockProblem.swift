import HTTPServer
import PointsOfInterestAPI
import POIService

/// Why a request to the mock itself, none of the service's, was refused.
struct MockProblem: Error, Hashable {
    /// What the client is told, but the request's id.
    let problem: Problem

    private init(
        _ status: Int, _ title: String, _ code: String, _ detail: String, faults: [DocumentFault] = []
    ) {
        var problem = Problem(ProblemCode(rawValue: code), status: status, detail: detail)
        // The service's pages of problems know nothing of the mock's (RFC 9457, section 4.2.1).
        problem.type = "about:blank"
        problem.title = title
        problem.errors = faults.prefix(100).map {
            ParameterFault(parameter: $0.path, code: problem.code, detail: $0.detail)
        }
        self.problem = problem
    }

    /// A body that isn't what it has to be, with every fault that was found in it.
    static func invalid(_ subject: String, _ faults: [DocumentFault]) -> MockProblem {
        let detail = faults.first.map { "\($0)" } ?? "the document can't be used"
        return MockProblem(422, "Unprocessable Content", "invalid-\(subject)", detail, faults: faults)
    }

    /// A session's name that URLs or people would read otherwise.
    static let invalidName = MockProblem(
        404, "Not Found", "invalid-session-name",
        "A session's name has 1 to 64 characters of A-Z a-z 0-9 . _ -")

    /// One session too many.
    static func tooManySessions(_ limit: Int) -> MockProblem {
        MockProblem(
            507, "Insufficient Storage", "too-many-sessions",
            "There are \(limit) sessions, as many as there may be: end one by DELETE, or raise POI_MAX_SESSIONS."
        )
    }
}

/// Answers the mock's own problems in the service's form, and leaves all others to the service.
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

extension HTTPResponse {
    /// The answer with a problem.
    init(_ problem: Problem, retryAfterSeconds: Int? = nil) {
        var headers: HTTPHeaders = [.contentType: MediaType.problemJSON, .cacheControl: "no-store"]
        if let retryAfterSeconds { headers.add(.retryAfter, String(retryAfterSeconds)) }
        self.init(
            HTTPStatus(code: problem.status) ?? .internalServerError, headers: headers, body: problem.json)
    }
}

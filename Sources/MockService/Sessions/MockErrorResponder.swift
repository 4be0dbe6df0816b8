import HTTPServer
import POIService
import PointsOfInterestAPI

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

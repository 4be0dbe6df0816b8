import Foundation
import HTTPServer
import PointsOfInterestAPI
import POIService

/// Why the mock refused a request to the mock itself, as opposed to one to the service.
struct MockProblem: Error, Hashable {
    /// The problem, without the request's id.
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

    /// A body that can't be used, with every fault that was found in it.
    static func invalid(_ subject: String, _ faults: [DocumentFault]) -> MockProblem {
        let detail = faults.first.map { "\($0)" } ?? "the document can't be used"
        return MockProblem(422, "Unprocessable Content", "invalid-\(subject)", detail, faults: faults)
    }

    /// Reads a document that a test has sent.
    ///
    /// - Throws: `MockProblem` with the first fault.
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

    /// A session's name that isn't safe in a URL.
    static let invalidName = MockProblem(
        404, "Not Found", "invalid-session-name",
        "A session's name has 1 to 64 characters of A-Z a-z 0-9 . _ -")

    /// The problem of a session beyond the maximum number.
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

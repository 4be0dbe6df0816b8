import Foundation
import HTTPServer
import Places
import PointsOfInterestAPI
import Testing

@testable import POIService

@Suite("Errors become problems")
struct ProblemResponderTests {
    struct Example: CustomTestStringConvertible, Sendable {
        let error: any Error
        let status: Int
        let code: ProblemCode
        var retryAfter: String?
        /// What the log says, and nobody else.
        var secret: String?

        var testDescription: String { "\(code.rawValue): \(error)" }
    }

    private struct UnknownError: Error, CustomStringConvertible {
        let description = "SELECT secret FROM table"
    }

    private static let examples = [
        Example(
            error: PlaceStoreError.unavailable(reason: "secret host"), status: 503,
            code: .databaseUnavailable, retryAfter: "1", secret: "secret host"),
        Example(error: PlaceStoreError.busy, status: 503, code: .databaseBusy, retryAfter: "1"),
        Example(error: PlaceStoreError.indexRequired, status: 501, code: .indexRequired),
        Example(error: PlaceStoreError.notReady, status: 503, code: .notReady, retryAfter: "1"),
        Example(error: PlaceStoreError.timeout(.query), status: 504, code: .queryTimeout),
        Example(error: PlaceStoreError.cancelled, status: 500, code: .internalError),
        Example(
            error: PlaceStoreError.failed(reason: "secret table"), status: 500, code: .internalError,
            secret: "secret table"),
        Example(error: UnknownError(), status: 500, code: .internalError, secret: "SELECT secret FROM table"),
        Example(
            error: HTTPError.overloaded(retryAfterSeconds: 3), status: 503, code: .overloaded,
            retryAfter: "3"),
        Example(
            error: HTTPError(.notFound, .unknownPath, "There is nothing at this path."), status: 404,
            code: .unknownPath),
        Example(
            error: HTTPError(.contentTooLarge, .bodyTooLarge, "Too large."), status: 413,
            code: .contentTooLarge),
        Example(
            error: HTTPError(.badRequest, .malformedRequest, "Malformed."), status: 400, code: .badRequest),
    ]

    @Test("A problem has a status, a code and an id, and reveals no internals", arguments: examples)
    func problems(example: Example) throws {
        let log = try LogFile()
        let response = ProblemResponder(observability: log.observability)
            .response(to: example.error, context: RequestContext(requestID: "id-1"))
        let body = String(decoding: response.body, as: UTF8.self)
        let problem = try JSONDecoder().decode(Problem.self, from: Data(response.body))
        #expect(response.status.code == example.status)
        #expect(problem.status == example.status)
        #expect(problem.code == example.code)
        #expect(problem.requestId == "id-1")
        #expect(!problem.title.isEmpty)
        #expect(problem.detail?.isEmpty == false)
        #expect(!body.lowercased().contains("secret"))
        #expect(response.headers.first(.contentType) == "application/problem+json")
        #expect(response.headers.first(.cacheControl) == "no-store")
        #expect(response.headers.first(.retryAfter) == example.retryAfter)

        let lines = try log.finish()
        #expect(lines.count == (example.secret == nil ? 0 : 1))
        if let secret = example.secret {
            #expect(lines.first?.contains(secret) == true)
            #expect(lines.first?.contains(#""requestId":"id-1""#) == true)
        }
    }

    @Test("The problem of a timeout says in general words what was waited for, and the log names it")
    func timeouts() throws {
        let log = try LogFile()
        var details: Set<String> = []
        for awaited in PlaceStoreError.Awaited.allCases {
            let context = RequestContext(requestID: "id-1")
            let response = ProblemResponder(observability: log.observability)
                .response(to: PlaceStoreError.timeout(awaited), context: context)
            let problem = try JSONDecoder().decode(Problem.self, from: Data(response.body))
            details.insert(try #require(problem.detail))
            #expect(context.logNotes.map(\.name.description) == ["waitedFor"])
            #expect(context.logNotes.map(\.value) == [awaited.rawValue])
        }
        #expect(details.count == PlaceStoreError.Awaited.allCases.count)
        #expect(try log.finish() == [])
    }
}

import HTTPServer
import PointsOfInterestAPI

/// Answers every error as a problem document (RFC 9457), and keeps what is nobody's business for the log.
package struct ProblemResponder: HTTPErrorResponder {
    private let observability: Observability

    /// Tells of failures there.
    package init(observability: Observability) {
        self.observability = observability
    }

    /// The problem that an error is, for its client.
    package func response(to error: any Error, context: RequestContext) -> HTTPResponse {
        switch error {
        case let error as HTTPError: response(to: error, context: context)
        case let error as ParameterError: response(Problem(error, requestId: context.requestID))
        case let error as PlaceStoreError: response(to: error, context: context)
        case let error as EventsError: response(Problem(error, requestId: context.requestID))
        case let error as EventStoreError: response(to: error, context: context)
        // It may quote what the client has sent.
        default: failure("\(error)".redactingNumbers, context)
        }
    }

    private func response(to error: HTTPError, context: RequestContext) -> HTTPResponse {
        let code =
            error.code == .unsupportedContentCoding
            ? .unsupportedContentEncoding : ProblemCode(status: error.status.code)
        let problem = Problem(
            code, status: error.status.code, detail: error.detail,
            requestId: context.requestID)
        return response(problem, headers: error.headers)
    }

    private func response(to error: PlaceStoreError, context: RequestContext) -> HTTPResponse {
        switch error {
        case .unavailable(let reason):
            record("the database of \(DatabaseName.places): \(reason)", context)
            return response(
                Problem(.databaseUnavailable, requestId: context.requestID), headers: Self.retrySoon)
        case .busy:
            return response(Problem(.databaseBusy, requestId: context.requestID), headers: Self.retrySoon)
        case .timeout:
            return response(Problem(.queryTimeout, requestId: context.requestID))
        case .cancelled:
            // Nobody reads this answer: its client has gone.
            return response(Problem(.internalError, requestId: context.requestID))
        case .failed(let reason):
            return failure(reason, context)
        }
    }

    private func response(to error: EventStoreError, context: RequestContext) -> HTTPResponse {
        switch error {
        case .unavailable(let reason):
            record("the database of \(DatabaseName.events): \(reason)", context)
            return response(
                Problem(.databaseUnavailable, requestId: context.requestID), headers: Self.retrySoon)
        case .busy:
            return response(Problem(.databaseBusy, requestId: context.requestID), headers: Self.retrySoon)
        case .failed(let reason):
            return failure(reason, context)
        }
    }

    private func failure(_ reason: String, _ context: RequestContext) -> HTTPResponse {
        record(reason, context)
        return response(Problem(.internalError, requestId: context.requestID))
    }

    private func record(_ reason: String, _ context: RequestContext) {
        observability.record(
            .failure(requestID: context.requestID, traceID: context.traceParent?.traceID, reason: reason))
    }

    private func response(_ problem: Problem, headers: HTTPHeaders = HTTPHeaders()) -> HTTPResponse {
        var headers = headers
        headers.add(.contentType, MediaType.problemJSON)
        headers.add(.cacheControl, "no-store")
        let status = HTTPStatus(code: problem.status) ?? .internalServerError
        return HTTPResponse(status, headers: headers, body: problem.json)
    }

    private static let retrySoon: HTTPHeaders = [.retryAfter: "1"]
}

import PointsOfInterestServerAPI
import HTTPServer
import Places
import PointsOfInterestAPI
import Telemetry

/// Makes problem responses (RFC 9457) to errors. Reasons that clients must not see go to the log.
package struct ProblemResponder: HTTPErrorResponder {
    private let observability: Observability

    package init(observability: Observability) { self.observability = observability }

    package func response(to error: any Error, context: RequestContext) -> HTTPResponse {
        switch error {
        case let error as HTTPError: response(to: error, context: context)
        case let error as ParameterError: HTTPResponse(Problem(error, requestId: context.requestID))
        case let error as PlaceStoreError: response(to: error, context: context)
        case let error as EventsError: HTTPResponse(Problem(error, requestId: context.requestID))
        case let error as EventStoreError: response(to: error, context: context)
        case let error as EditContentError: HTTPResponse(Problem(error, requestId: context.requestID))
        case let error as EditError: response(to: error, context: context)
        // The error's text may quote the request.
        default: failure("\(error)".redactingNumbers, context)
        }
    }

    private func response(to error: HTTPError, context: RequestContext) -> HTTPResponse {
        let code: ProblemCode =
            switch error.code {
            case .unsupportedContentCoding: .unsupportedContentEncoding
            case .unknownPath: .unknownPath
            case .notAnEditor: .notAnEditor
            default: ProblemCode(status: error.status.code)
            }
        let problem = Problem(
            code, status: error.status.code, detail: error.detail, requestId: context.requestID)
        return HTTPResponse(problem, headers: error.headers)
    }

    private func response(to error: PlaceStoreError, context: RequestContext) -> HTTPResponse {
        switch error {
        case .unavailable(let reason): unavailable(.places, reason, context)
        case .busy: busy(context)
        case .overloaded:
            HTTPResponse(Problem(.overloaded, requestId: context.requestID), headers: Self.retrySoon)
        case .timeout(let awaited): timeout(awaited, context)
        case .indexRequired: HTTPResponse(Problem(.indexRequired, requestId: context.requestID))
        case .notReady:
            HTTPResponse(
                Problem(.notReady, detail: "There are no places in memory.", requestId: context.requestID),
                headers: Self.retrySoon)
        // Nobody receives this response: the client has gone.
        case .cancelled: HTTPResponse(Problem(.internalError, requestId: context.requestID))
        case .failed(let reason): failure(reason, context)
        }
    }

    private func response(to error: EventStoreError, context: RequestContext) -> HTTPResponse {
        switch error {
        case .unavailable(let reason): unavailable(.events, reason, context)
        case .busy: busy(context)
        case .failed(let reason): failure(reason, context)
        }
    }

    private func response(to error: EditError, context: RequestContext) -> HTTPResponse {
        switch error {
        case .notFound:
            HTTPResponse(
                Problem(.notFound, detail: "There is no place with this id.", requestId: context.requestID))
        case .gone: HTTPResponse(Problem(.gone, requestId: context.requestID))
        case .merged(let id):
            HTTPResponse(Problem(.merged, requestId: context.requestID, mergedInto: Int(id)))
        case .stale(let version):
            HTTPResponse(
                Problem(
                    .preconditionFailed,
                    detail: "The place has changed: the ETag is that of its version now.",
                    requestId: context.requestID),
                headers: version.map { [.eTag: "\"\($0)\""] } ?? HTTPHeaders())
        case .invalid(let faults):
            HTTPResponse(Problem(EditContentError.invalid(faults), requestId: context.requestID))
        case .keyReused: HTTPResponse(Problem(.idempotencyKeyReused, requestId: context.requestID))
        case .unavailable(let reason): unavailable(.edits, reason, context)
        case .busy: busy(context)
        case .failed(let reason): failure(reason, context)
        }
    }

    private func unavailable(
        _ database: DatabaseName, _ reason: String, _ context: RequestContext
    ) -> HTTPResponse {
        record("the database of \(database): \(reason)", context, isUnavailability: true)
        return HTTPResponse(
            Problem(.databaseUnavailable, requestId: context.requestID), headers: Self.retrySoon)
    }

    private func busy(_ context: RequestContext) -> HTTPResponse {
        HTTPResponse(Problem(.databaseBusy, requestId: context.requestID), headers: Self.retrySoon)
    }

    private func timeout(_ awaited: PlaceStoreError.Awaited, _ context: RequestContext) -> HTTPResponse {
        context.logNotes.append(("waitedFor", awaited.rawValue))
        let detail =
            switch awaited {
            case .connection: "The request waited too long for a connection to the database."
            case .query: "A query took too long, and was given up."
            case .turn: "The search waited too long for its turn."
            case .search: "The search took too long, and was given up."
            }
        return HTTPResponse(Problem(.queryTimeout, detail: detail, requestId: context.requestID))
    }

    private func failure(_ reason: String, _ context: RequestContext) -> HTTPResponse {
        record(reason, context)
        return HTTPResponse(Problem(.internalError, requestId: context.requestID))
    }

    private func record(_ reason: String, _ context: RequestContext, isUnavailability: Bool = false) {
        observability.record(
            .failure(
                requestID: context.requestID, traceID: context.traceParent?.traceID, reason: reason,
                isUnavailability: isUnavailability))
    }

    private static let retrySoon: HTTPHeaders = [.retryAfter: "1"]
}

extension HTTPResponse {
    /// The response with a problem. If the problem has no detail, the meaning of its code becomes the detail, so that a
    /// client that shows details always has one.
    package init(_ problem: Problem, headers: HTTPHeaders = HTTPHeaders()) {
        var (problem, headers) = (problem, headers)
        problem.detail = problem.detail ?? ProblemCode.definitions[problem.code]?.meaning
        headers.add(.contentType, MediaType.problemJSON)
        headers.add(.cacheControl, "no-store")
        let status = HTTPStatus(code: problem.status) ?? .internalServerError
        self.init(status, headers: headers, body: problem.json)
    }
}

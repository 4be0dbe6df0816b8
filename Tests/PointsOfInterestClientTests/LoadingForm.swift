import PointsOfInterestClient
import Testing

/// The ways to load a request, which must not differ.
enum LoadingForm: CaseIterable, Sendable {
    case async, completionHandler, twoOptionals

    func load<Request>(
        _ requestData: Request.RequestDataType, with loader: APIRequestLoader<Request>
    ) async throws -> Request.ResponseDataType {
        switch self {
        case .async:
            return try await loader.loadAPIRequest(requestData: requestData)
        case .completionHandler:
            let outcomes = AsyncStream<Result<Request.ResponseDataType, any Error>> { continuation in
                loader.loadAPIRequest(requestData: requestData) { outcome in
                    if case .terminated = continuation.yield(outcome) {
                        Issue.record("the handler was called again, or too late")
                    }
                    continuation.finish()
                }
            }
            for await outcome in outcomes { return try outcome.get() }
            throw CancellationError()
        case .twoOptionals:
            let calls = AsyncStream<(Request.ResponseDataType?, (any Error)?)> { continuation in
                loader.loadAPIRequest(requestData: requestData) { contents, error in
                    if case .terminated = continuation.yield((contents, error)) {
                        Issue.record("the handler was called again, or too late")
                    }
                    continuation.finish()
                }
            }
            for await (contents, error) in calls {
                #expect((contents == nil) != (error == nil), "either a value or an error")
                if let error { throw error }
                return try #require(contents)
            }
            throw CancellationError()
        }
    }
}

import PointsOfInterestClient
import Testing

/// The two ways to load a request, which must not differ.
enum LoadingForm: CaseIterable, Sendable {
    case async, completionHandler

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
        }
    }
}

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends an API request over a URL session and reads the answer.
public struct APIRequestLoader<T: APIRequest>: Sendable {
    /// The endpoint.
    public let apiRequest: T
    /// The session that carries requests.
    public let urlSession: URLSession

    /// Makes a loader for an endpoint.
    public init(apiRequest: T, urlSession: URLSession = .shared) {
        self.apiRequest = apiRequest
        self.urlSession = urlSession
    }

    /// Sends one request; returns at once when its task is cancelled, and cancels the request.
    ///
    /// - Throws: `RequestError`; other errors only as `apiRequest` throws them itself.
    public func loadAPIRequest(requestData: T.RequestDataType) async throws -> T.ResponseDataType {
        let request = try apiRequest.makeRequest(from: requestData)
        if Task.isCancelled { throw RequestError.cancelled }
        // Not `data(for:)`: cancelled at the wrong moment on Linux (Swift 6.3), it never returns.
        let outcomes = AsyncStream<Result<T.ResponseDataType, any Error>> { continuation in
            let task = send(request) { outcome in
                continuation.yield(outcome)
                continuation.finish()
            }
            continuation.onTermination = { [delegateQueue = urlSession.delegateQueue] reason in
                guard case .cancelled = reason else { return }
                // The queue of completions: on Linux, a cancellation that crosses one can trap (and so can
                // one that crosses the look into a `urlCache`; sessions there are better without).
                delegateQueue.addOperation { task.cancel() }
            }
        }
        for await outcome in outcomes { return try outcome.get() }
        throw RequestError.cancelled
    }

    /// Sends one request and calls the handler once, on the session's delegate queue.
    ///
    /// The handler's error is a `RequestError`; another only as `apiRequest` throws it itself.
    public func loadAPIRequest(
        requestData: T.RequestDataType,
        completionHandler: @escaping @Sendable (Result<T.ResponseDataType, any Error>) -> Void
    ) {
        do {
            send(try apiRequest.makeRequest(from: requestData), completionHandler)
        } catch {
            // Later and there, like every other outcome, never before this function has returned.
            urlSession.delegateQueue.addOperation { completionHandler(.failure(error)) }
        }
    }

    @discardableResult
    private func send(
        _ request: URLRequest,
        _ completionHandler: @escaping @Sendable (Result<T.ResponseDataType, any Error>) -> Void
    ) -> URLSessionDataTask {
        let task = urlSession.dataTask(with: request) { data, response, error in
            completionHandler(
                Result {
                    if let error { throw RequestError(transportError: error) }
                    return try read(data: data ?? Data(), response: response)
                })
        }
        task.resume()
        return task
    }

    private func read(data: Data, response: URLResponse?) throws -> T.ResponseDataType {
        guard let response = response as? HTTPURLResponse else { throw RequestError.notHTTP }
        guard (200..<300).contains(response.statusCode) else {
            throw RequestError(refusal: response, body: data)
        }
        do {
            return try apiRequest.parseResponse(data: data)
        } catch let error as DecodingError {
            throw RequestError.undecodableBody(reason: String(describing: error))
        }
    }
}

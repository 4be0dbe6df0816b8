import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests over a URL session.
struct URLSessionTransport: Transport {
    let urlSession: URLSession

    func send(_ request: URLRequest) async throws(RequestError) -> Answer {
        if Task.isCancelled { throw .cancelled }
        // Not `data(for:)`: cancelled at the wrong moment on Linux (Swift 6.3), it never returns.
        let outcomes = AsyncStream<Result<Answer, RequestError>> { continuation in
            let task = urlSession.dataTask(with: request) { data, response, error in
                continuation.yield(Self.outcome(data, response, error))
                continuation.finish()
            }
            continuation.onTermination = { [delegateQueue = urlSession.delegateQueue] reason in
                guard case .cancelled = reason else { return }
                // The queue of completions: on Linux, a cancellation that crosses one can trap (and so can
                // one that crosses the look into a `urlCache`; sessions there are better without).
                delegateQueue.addOperation { task.cancel() }
            }
            task.resume()
        }
        for await outcome in outcomes { return try outcome.get() }
        throw .cancelled
    }

    private static func outcome(
        _ data: Data?, _ response: URLResponse?, _ error: (any Error)?
    ) -> Result<Answer, RequestError> {
        if let error { return .failure(RequestError(transportError: error)) }
        guard let response = response as? HTTPURLResponse else { return .failure(.notHTTP) }
        return .success(Answer(head: ResponseHead(response), body: data ?? Data()))
    }
}

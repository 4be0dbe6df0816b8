import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends an API request and reads the answer.
public struct APIRequestLoader<T: APIRequest>: Sendable {
    /// The endpoint.
    public let apiRequest: T
    /// The session that carries requests.
    public let urlSession: URLSession

    private let transport: any Transport

    /// Makes a loader for an endpoint, which sends each request once.
    public init(apiRequest: T, urlSession: URLSession = .uncached) {
        self.init(
            apiRequest: apiRequest, urlSession: urlSession,
            transport: URLSessionTransport(urlSession: urlSession))
    }

    init(apiRequest: T, urlSession: URLSession, transport: any Transport) {
        self.apiRequest = apiRequest
        self.urlSession = urlSession
        self.transport = transport
    }

    /// Sends one request; returns at once when its task is cancelled, and cancels the request.
    ///
    /// Makes the request and reads the answer off the caller's actor: an app that asks on its main actor goes
    /// on drawing while a large answer is decoded.
    ///
    /// - Throws: `RequestError`; other errors only as `apiRequest` throws them itself.
    @concurrent
    public func loadAPIRequest(requestData: T.RequestDataType) async throws -> T.ResponseDataType {
        let request = try apiRequest.makeRequest(from: requestData)
        return try read(try await transport.send(request))
    }

    /// Sends one request and calls the handler once, on the session's delegate queue, after this function has
    /// returned.
    ///
    /// The handler's error is a `RequestError`; another only as `apiRequest` throws it itself.
    public func loadAPIRequest(
        requestData: T.RequestDataType,
        completionHandler: @escaping @Sendable (Result<T.ResponseDataType, any Error>) -> Void
    ) {
        Task {
            let outcome: Result<T.ResponseDataType, any Error>
            do {
                outcome = .success(try await loadAPIRequest(requestData: requestData))
            } catch {
                outcome = .failure(error)
            }
            urlSession.delegateQueue.addOperation { completionHandler(outcome) }
        }
    }

    private func read(_ answer: Answer) throws -> T.ResponseDataType {
        guard (200..<300).contains(answer.head.status) else { throw RequestError(refusal: answer) }
        do {
            return try apiRequest.parseResponse(data: answer.body, head: answer.head)
        } catch let error as DecodingError {
            throw RequestError.undecodableBody(reason: String(describing: error))
        }
    }
}

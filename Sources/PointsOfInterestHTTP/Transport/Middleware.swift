import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Stands between the client and the network: it sees each attempt of a request and its response, and may change, delay,
/// repeat or replace both.
///
/// What most apps need has hooks of its own: `headers` adds fields, `renewKey` renews a key, `observer` watches. A middleware
/// is for what these can't do: a signature over the whole request, a body that is encrypted, a network of the team's own.
public protocol RequestMiddleware: Sendable {
    /// Sends a request on and returns its response, or any other one.
    ///
    /// It is called for each attempt, on any thread; when the request is cancelled, or its time is over, the task is cancelled.
    /// The fields of `headers` are added after it, and kept responses are asked for after it: it gets a kept response where
    /// that is still valid. What it makes of a body is read, but not kept.
    ///
    /// - Parameters:
    ///   - request: the request as it would be sent on.
    ///   - next: sends a request on; it may be called any number of times.
    /// - Throws: an error that fails the attempt: a `RequestError` is thrown as it is, a `URLError` as
    ///   `RequestError.transport` with its code, any other error as `.transport` with the code `URLError.unknown`.
    func intercept(_ request: OutgoingRequest, next: RequestSender) async throws -> ServiceResponse
}

/// Sends a request on, to the next middleware and at last to the network.
public struct RequestSender: Sendable {
    // A type and not a function: where a module's settings say on which executor async functions run, two types of functions
    // that look alike can differ.
    private let send: @Sendable (OutgoingRequest) async throws -> ServiceResponse

    /// Makes a sender, for the test of a middleware.
    public init(_ send: @escaping @Sendable (OutgoingRequest) async throws -> ServiceResponse) {
        self.send = send
    }

    /// Sends a request on and returns the response, whatever its status.
    ///
    /// - Throws: `RequestError` where there is no response.
    public func callAsFunction(_ request: OutgoingRequest) async throws -> ServiceResponse {
        try await send(request)
    }
}

/// A request on its way to the service, for a `RequestMiddleware`.
public struct OutgoingRequest: Sendable {
    /// The request as it will be sent.
    public var urlRequest: URLRequest
    /// The endpoint that it is for.
    public let endpoint: ServiceEndpoint

    /// Makes a request, for the test of a middleware.
    public init(_ urlRequest: URLRequest, endpoint: ServiceEndpoint) {
        self.urlRequest = urlRequest
        self.endpoint = endpoint
    }
}

/// Sends requests through a middleware.
struct MiddlewareTransport: Transport {
    let base: any Transport
    let middleware: any RequestMiddleware
    let endpoint: ServiceEndpoint

    func send(_ request: URLRequest) async throws(RequestError) -> ServiceResponse {
        do {
            let outgoing = OutgoingRequest(request, endpoint: endpoint)
            let sender = RequestSender { [base] next in try await base.send(next.urlRequest) }
            return try await middleware.intercept(outgoing, next: sender)
        } catch {
            throw RequestError(error)
        }
    }
}

/// The field with the id by which the service's log has a request; its response has it, too.
private let idField = "X-Request-Id"

extension URLRequest {
    /// The id by which the service's log has the request.
    var id: String? { value(forHTTPHeaderField: idField) }

    /// This request with an id, a new one unless it has one.
    package var identified: URLRequest {
        guard id == nil else { return self }
        var request = self
        request.setValue(UUID().uuidString.lowercased(), forHTTPHeaderField: idField)
        return request
    }
}

extension ResponseHead {
    /// The id by which the log of whoever has responded has the request.
    var id: String? { value(forField: idField) }
}

extension RequestError {
    /// This error with the id of the request that it is about, unless it has one.
    package func about(_ request: URLRequest) -> RequestError {
        var error = self
        error.requestID = requestID ?? request.id
        return error
    }

    /// This error with the id of the response that it is about.
    func about(_ response: ServiceResponse) -> RequestError {
        var error = self
        error.responseID = response.head.id
        return error
    }
}

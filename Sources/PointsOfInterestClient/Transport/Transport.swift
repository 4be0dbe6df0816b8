import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends a request and returns the response, whatever its status.
///
/// Transports are stacked: one sends, one revalidates kept responses, one retries.
protocol Transport: Sendable {
    /// Sends one request.
    ///
    /// - Throws: `RequestError` where there is no response; `.cancelled` at once when the task is cancelled.
    func send(_ request: URLRequest) async throws(RequestError) -> Response
}

/// An HTTP response.
struct Response: Sendable {
    var head: ResponseHead
    var body: Data
}

/// Sends requests over a URL session. It follows redirects of a `GET` or `HEAD` within the origin, whatever the session
/// would do.
struct URLSessionTransport: Transport {
    /// How many redirects in a row are followed; more are most likely a circle.
    static let maximumRedirects = 5

    let urlSession: URLSession
    /// Is called after each response.
    var observer: @Sendable (URLRequest, ResponseHead, Data) -> Void = { _, _, _ in }

    func send(_ request: URLRequest) async throws(RequestError) -> Response {
        var (request, redirects) = (request, 0)
        while true {
            let response = try await sendOnce(request)
            observer(request, response.head, response.body)
            guard let next = try request.redirected(by: response) else { return response }
            guard redirects < Self.maximumRedirects else {
                throw .redirectRefused(to: next.url.flatMap(Origin.init)?.description ?? "")
            }
            (request, redirects) = (next, redirects + 1)
        }
    }

    private func sendOnce(_ request: URLRequest) async throws(RequestError) -> Response {
        if Task.isCancelled { throw .cancelled }
        // Not `data(for:)`: on Linux (Swift 6.3) it never returns if it is cancelled at the wrong moment.
        let outcomes = AsyncStream<Result<Response, RequestError>> { continuation in
            let task = urlSession.dataTask(with: request) { data, response, error in
                continuation.yield(Self.outcome(data, response, error))
                continuation.finish()
            }
            task.delegate = RedirectRefusal.shared
            continuation.onTermination = { [delegateQueue = urlSession.delegateQueue] reason in
                guard case .cancelled = reason else { return }
                // The task is cancelled on the queue that completions run on: on Linux, a cancellation at the same time
                // as a completion can trap. A cancellation while the session reads its `urlCache` can trap, too, so a
                // session there should have no cache.
                delegateQueue.addOperation { task.cancel() }
            }
            task.resume()
        }
        for await outcome in outcomes { return try outcome.get() }
        throw .cancelled
    }

    private static func outcome(
        _ data: Data?, _ response: URLResponse?, _ error: (any Error)?
    ) -> Result<Response, RequestError> {
        if let error { return .failure(RequestError(transportError: error)) }
        guard let response = response as? HTTPURLResponse else { return .failure(.notHTTP) }
        return .success(Response(head: ResponseHead(response), body: data ?? Data()))
    }
}

/// Adds the app's own header fields to each request, a token for instance.
struct AuthorizingTransport: Transport {
    let base: any Transport
    /// The endpoint that the requests are for.
    let endpoint: ServiceEndpoint
    let headers: HeaderProvider

    func send(_ request: URLRequest) async throws(RequestError) -> Response {
        var request = request
        do {
            for (name, value) in try await headers(endpoint) {
                request.setValue(value, forHTTPHeaderField: name)
            }
        } catch let error as RequestError {
            throw error
        } catch  where error is URLError || error is CancellationError {
            throw RequestError(transportError: error)
        } catch {
            // This is the app's own error. Sending the request again wouldn't help.
            throw .transport(
                code: URLError.userAuthenticationRequired.rawValue, reason: error.localizedDescription)
        }
        return try await base.send(request)
    }
}

/// Returns the header fields that an app adds to a request to an endpoint. It is called before each attempt, so it can
/// renew a token.
///
/// A fixed key is `{ _ in ["Authorization": "Bearer \(key)"] }`, a key of its own for events
/// `{ $0 == .events ? ["Authorization": "Bearer \(eventsKey)"] : ["Authorization": "Bearer \(key)"] }`. An error that it
/// throws fails the request: a `RequestError` is thrown as it is, a `URLError` as `RequestError.transport` with its
/// code, any other error as `.transport` with the code `userAuthenticationRequired`.
public typealias HeaderProvider = @Sendable (ServiceEndpoint) async throws -> [String: String]

extension URLSessionConfiguration {
    /// A new configuration for a session that keeps nothing: no cache, no cookies, no credentials.
    public static var uncached: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        // On Linux, a task that is cancelled while its session reads a cache can trap.
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        return configuration
    }
}

extension URLSession {
    /// The default session for requests. It keeps nothing.
    public static let uncached = URLSession(configuration: .uncached)
}

extension RequestError {
    /// The `URLError.Code` of a `.transport` error; nil for every other case.
    public var urlErrorCode: URLError.Code? {
        guard case .transport(let code, _) = self else { return nil }
        return URLError.Code(rawValue: code)
    }

    /// Converts the error of a request that got no response.
    init(transportError error: any Error) {
        switch error {
        case is CancellationError, URLError.cancelled: self = .cancelled
        case let error as URLError:
            self = .transport(code: error.code.rawValue, reason: error.localizedDescription)
        default:
            self = .transport(code: URLError.unknown.rawValue, reason: error.localizedDescription)
        }
    }

    /// Makes the error of a response whose status isn't a success.
    init(refusal response: Response) {
        guard response.head.mediaType == MediaType.problemJSON,
            var problem = try? JSONDecoder().decode(Problem.self, from: response.body)
        else {
            self = .unexpectedStatus(response.head.status)
            return
        }
        // The status in the body is only advisory (RFC 9457, section 3.1.2).
        problem.status = response.head.status
        self = .problem(problem)
    }
}

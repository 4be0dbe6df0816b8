import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Carries a request to the service and an answer back, whatever its status.
///
/// Transports are stacked: one sends, another knows entity tags, another tries again.
protocol Transport: Sendable {
    /// Sends one request.
    ///
    /// - Throws: `RequestError` where there is no answer; `.cancelled` at once where the task is cancelled.
    func send(_ request: URLRequest) async throws(RequestError) -> Answer
}

/// An HTTP answer.
struct Answer: Sendable {
    var head: ResponseHead
    var body: Data
}

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

/// Adds the app's own fields to each request, a token for instance.
struct AuthorizingTransport: Transport {
    let base: any Transport
    let headers: HeaderProvider

    func send(_ request: URLRequest) async throws(RequestError) -> Answer {
        var request = request
        do {
            for (name, value) in try await headers() { request.setValue(value, forHTTPHeaderField: name) }
        } catch let error as RequestError {
            throw error
        } catch  where error is URLError || error is CancellationError {
            throw RequestError(transportError: error)
        } catch {
            // The app's own, and not one that passes by sending again.
            throw .transport(
                code: URLError.userAuthenticationRequired.rawValue, reason: error.localizedDescription)
        }
        return try await base.send(request)
    }
}

/// Makes the fields that an app adds to each request; asked before each attempt, so that tokens may be renewed.
///
/// A fixed key is `{ ["Authorization": "Bearer \(key)"] }`. What it throws ends the request: a `RequestError` as
/// it is, a `URLError` as one of transport, anything else with the code `userAuthenticationRequired`.
public typealias HeaderProvider = @Sendable () async throws -> [String: String]

extension URLSessionConfiguration {
    /// A configuration for API requests that keeps nothing, on disk or between requests: no cache, no cookies,
    /// no credentials. A new one each time.
    public static var uncached: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        // On Linux, a task that is cancelled while its session looks into a cache can trap.
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        return configuration
    }
}

extension URLSession {
    /// The session for requests that are given no other: it keeps nothing.
    public static let uncached = URLSession(configuration: .uncached)
}

extension RequestError {
    /// What Foundation knows of a transport error; nil for every other case.
    public var urlErrorCode: URLError.Code? {
        guard case .transport(let code, _) = self else { return nil }
        return URLError.Code(rawValue: code)
    }

    /// The error of a request without an answer.
    init(transportError error: any Error) {
        switch error {
        case is CancellationError, URLError.cancelled: self = .cancelled
        case let error as URLError:
            self = .transport(code: error.code.rawValue, reason: error.localizedDescription)
        default:
            self = .transport(code: URLError.unknown.rawValue, reason: error.localizedDescription)
        }
    }

    /// The error of an answer that is not a success.
    init(refusal answer: Answer) {
        guard answer.head.mediaType == MediaType.problemJSON,
            var problem = try? JSONDecoder().decode(Problem.self, from: answer.body)
        else {
            self = .unexpectedStatus(answer.head.status)
            return
        }
        // The document's status is advisory (RFC 9457, section 3.1.2).
        problem.status = answer.head.status
        self = .problem(problem)
    }
}

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends a request and returns the response, whatever its status.
///
/// Transports are stacked: one sends, one revalidates kept responses, one retries.
package protocol Transport: Sendable {
    /// Sends one request.
    ///
    /// - Throws: `RequestError` where there is no response; `.cancelled` at once when the task is cancelled.
    func send(_ request: URLRequest) async throws(RequestError) -> ServiceResponse
}

/// An HTTP response, whatever its status.
public struct ServiceResponse: Sendable {
    /// The status and the header fields.
    public var head: ResponseHead
    /// The body, decompressed.
    public var body: Data
    /// What the store has to do with it; nil where it isn't kept.
    var keeping: ResponseKeeping?

    /// Makes a response, which isn't kept.
    public init(head: ResponseHead, body: Data = Data()) {
        self.init(head: head, body: body, keeping: nil)
    }

    init(head: ResponseHead, body: Data, keeping: ResponseKeeping?) {
        self.head = head
        self.body = body
        self.keeping = keeping
    }
}

/// Sends requests over a URL session. It follows redirects of a `GET` or `HEAD` within the origin, whatever the session
/// would do.
package struct URLSessionTransport: Transport {
    /// How many redirects in a row are followed; more are most likely a circle.
    static let maximumRedirects = 5

    let urlSession: URLSession
    /// Is told of each attempt.
    var recorder: AttemptRecorder?

    init(urlSession: URLSession, recorder: AttemptRecorder?) {
        self.urlSession = urlSession
        self.recorder = recorder
    }

    /// Makes one whose attempts nobody is told of.
    package init(urlSession: URLSession) {
        self.init(urlSession: urlSession, recorder: nil)
    }

    package func send(_ request: URLRequest) async throws(RequestError) -> ServiceResponse {
        var (request, redirects) = (request, 0)
        while true {
            let response = try await sendOnce(request).get()
            guard let next = try request.redirected(by: response) else { return response }
            guard redirects < Self.maximumRedirects else {
                throw .redirectRefused(to: next.url.flatMap(Origin.init)?.description ?? "")
            }
            (request, redirects) = (next, redirects + 1)
        }
    }

    /// Sends a request and returns the response, a redirect, too.
    package func sendOnce(_ request: URLRequest) async -> Result<ServiceResponse, RequestError> {
        if Task.isCancelled { return .failure(.cancelled) }
        let end = recorder?.begin(request)
        let outcome = await outcome(ofSending: request).mapError { $0.about(request) }
        end?(outcome)
        return outcome
    }

    private func outcome(ofSending request: URLRequest) async -> Result<ServiceResponse, RequestError> {
        // Not `data(for:)`: it has the whole body in memory, whatever its size, and on Linux (Swift 6.3) it never returns if it
        // is cancelled at the wrong moment.
        let outcomes = AsyncStream<Result<ServiceResponse, RequestError>> { continuation in
            let receiver = ResponseReceiver { outcome in
                continuation.yield(outcome)
                continuation.finish()
            }
            let task = urlSession.task(with: request, receiver: receiver)
            continuation.onTermination = { [delegateQueue = urlSession.delegateQueue] reason in
                guard case .cancelled = reason else { return }
                // The task is cancelled on the queue that completions run on: on Linux, a cancellation at the same time
                // as a completion can trap. A cancellation while the session reads its `urlCache` can trap, too, so a
                // session there should have no cache.
                delegateQueue.addOperation { task.cancel() }
            }
            task.resume()
        }
        for await outcome in outcomes { return outcome }
        return .failure(.cancelled)
    }
}

/// Sends each request through a transport of its own, whose parts can keep what they know of that request.
struct TransportOfEachRequest: Transport {
    let make: @Sendable () -> any Transport

    func send(_ request: URLRequest) async throws(RequestError) -> ServiceResponse {
        try await make().send(request)
    }
}

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

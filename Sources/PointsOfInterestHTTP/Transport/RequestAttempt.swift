import Foundation
import Locking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One sending of a request and what came of it, for an app's log or its metrics.
///
/// Each request on the wire is an attempt of its own: a retry, one after a redirect that is followed, and one with a
/// renewed key, too. It has no header field's value, no body, and nothing that tells who or where the user is.
public struct RequestAttempt: Hashable, Sendable {
    /// How an attempt ended.
    public enum Outcome: Hashable, Sendable {
        /// There was a response with this status: 304 where the response that is kept is still valid, and that of a
        /// redirect also where it is refused.
        case response(status: Int)
        /// There was no response. `.cancelled` is also what a time limit of `TimeLimits` has ended.
        case failure(RequestError)
    }

    /// The endpoint that the request is for.
    public let endpoint: ServiceEndpoint
    /// Which attempt of the request it is, from 1.
    public let number: Int
    /// The request's method.
    public let method: String
    /// The request's URL, without user, password and fragment, and without the values of its query except for `radius`,
    /// `limit`, `category`, `dataset`, `featured`, `sort`, `zoom`, `properties` and `lang`: the position, the search
    /// text and whatever else the client doesn't know to be harmless are left out. Nil where it can't be written like
    /// this. The path of an app's own endpoint is there as it is.
    public let url: URL?
    /// How it ended.
    public let outcome: Outcome
    /// The length of the request's body in bytes; 0 for a body that is a stream.
    public let sentByteCount: Int
    /// The length of the response's body in bytes, decompressed; 0 where there is no response.
    public let receivedByteCount: Int
    /// When it began, by the device's clock.
    public let startedAt: Date
    /// How long it took until its end, by the service's `clock`.
    public let duration: Duration
    /// The response's `X-Request-Id`, or the request's where there is no response: by this the service's log has it.
    public let requestID: String?

    /// Makes an attempt, for the test of an observer. The URL is changed as described there.
    public init(
        endpoint: ServiceEndpoint, number: Int = 1, method: String = "GET", url: URL?, outcome: Outcome,
        sentByteCount: Int = 0, receivedByteCount: Int = 0, startedAt: Date = Date(),
        duration: Duration = .zero, requestID: String? = nil
    ) {
        self.endpoint = endpoint
        self.number = number
        self.method = method
        self.url = url?.withoutPrivateParts
        self.outcome = outcome
        self.sentByteCount = sentByteCount
        self.receivedByteCount = receivedByteCount
        self.startedAt = startedAt
        self.duration = duration
        self.requestID = requestID
    }

    init(_ sent: SentRequest) {
        let outcome: Outcome
        var response: ServiceResponse?
        switch sent.outcome {
        case .success(let received):
            response = received
            outcome = .response(status: received.head.status)
        case .failure(let error): outcome = .failure(error)
        }
        self.init(
            endpoint: sent.endpoint, number: sent.number, method: sent.request.httpMethod ?? "GET",
            url: sent.request.url, outcome: outcome, sentByteCount: sent.request.httpBody?.count ?? 0,
            receivedByteCount: response?.body.count ?? 0, startedAt: sent.startedAt,
            duration: sent.duration,
            requestID: response?.head.id ?? sent.request.id)
    }
}

/// A request as it was sent and what came of it, with all that is secret or private in them.
package struct SentRequest: Sendable {
    /// The request as it was sent.
    package let request: URLRequest
    /// The response, whatever its status, or why there is none.
    package let outcome: Result<ServiceResponse, RequestError>
    let endpoint: ServiceEndpoint
    /// Which attempt of the request it was, from 1.
    let number: Int
    let startedAt: Date
    let duration: Duration
}

/// Counts and measures the attempts of one request, and tells the observer of each.
final class AttemptRecorder: Sendable {
    private let endpoint: ServiceEndpoint
    private let clock: any Clock<Duration>
    private let observer: @Sendable (SentRequest) -> Void
    private let count = Lock(0)

    init(
        endpoint: ServiceEndpoint, clock: any Clock<Duration>,
        observer: @escaping @Sendable (SentRequest) -> Void
    ) {
        self.endpoint = endpoint
        self.clock = clock
        self.observer = observer
    }

    /// Begins an attempt, and returns the function to call once with its outcome.
    func begin(_ request: URLRequest) -> (Result<ServiceResponse, RequestError>) -> Void {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let startedAt = Date()
        let elapsed = clock.stopwatch()
        return { [endpoint, observer] outcome in
            observer(
                SentRequest(
                    request: request, outcome: outcome, endpoint: endpoint, number: number,
                    startedAt: startedAt, duration: elapsed()))
        }
    }
}

extension URL {
    /// The parameters whose values tell nothing of the user's position, search text, places or key. An app's own endpoint
    /// may have any others.
    private static let harmlessParameters: Set<String> = [
        "radius", "limit", "category", "dataset", "featured", "sort", "near", "zoom", "properties", "lang",
    ]

    /// This URL without user, password and fragment, and with the values of harmless parameters only; nil where it can't be
    /// taken apart.
    fileprivate var withoutPrivateParts: URL? {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
        parts.user = nil
        parts.password = nil
        parts.fragment = nil
        parts.percentEncodedQueryItems = parts.percentEncodedQueryItems?.map { item in
            let isHarmless = Self.harmlessParameters.contains(item.name)
            return URLQueryItem(name: item.name, value: isHarmless ? item.value : item.value.map { _ in "" })
        }
        return parts.url
    }
}

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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

    /// Returns this error of a response, or `.foreignResponse` where the response isn't the service's. For requests to an
    /// endpoint of the service: what media types another one has, only the app knows.
    func judged(by response: Response) -> RequestError {
        switch self {
        case .undecodableBody where response.isForeign, .unexpectedStatus where response.isForeign:
            .foreignResponse(status: response.head.status, mediaType: response.head.mediaType)
        default: self
        }
    }
}

extension RequestError {
    /// Whether the network failed: no response came, or another server's in the service's place.
    var isNetworkFailure: Bool {
        switch self {
        case .transport, .redirectRefused, .foreignResponse: true
        default: false
        }
    }

    /// Whether a kept response may be shown instead: the network failed, or the service did (RFC 5861, section 4,
    /// "stale-if-error").
    var allowsKept: Bool {
        switch self {
        case .problem(let problem): problem.status >= 500
        case .unexpectedStatus(let status): status >= 500
        default: isNetworkFailure
        }
    }
}

extension Response {
    /// Whether another server must have sent it: it has a media type that the service has for no response, or none where
    /// the service always has one. An empty error says nothing about who sent it.
    fileprivate var isForeign: Bool {
        guard let mediaType = head.mediaType else {
            return !body.isEmpty || (200..<300).contains(head.status)
        }
        return !MediaType.all.contains(mediaType)
    }
}

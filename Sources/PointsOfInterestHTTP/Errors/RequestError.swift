import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension RequestError {
    /// The `URLError.Code` of a `.transport` error; nil for every other case.
    public var urlErrorCode: URLError.Code? {
        guard case .transport(let code, _) = reason else { return nil }
        return URLError.Code(rawValue: code)
    }

    /// Converts the error of a request that got no response.
    package init(transportError error: any Error) {
        switch error {
        case is CancellationError, URLError.cancelled: self = .cancelled
        case let error as URLError:
            self = .transport(code: error.code.rawValue, reason: error.localizedDescription)
        default:
            self = .transport(code: URLError.unknown.rawValue, reason: error.localizedDescription)
        }
    }

    /// Makes the error of a response whose status isn't a success.
    package init(refusal response: ServiceResponse) {
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

    /// Returns this error of a response, or `.foreignResponse` where the response isn't the service's, with its id. For requests to an
    /// endpoint of the service: what media types another one has, only the app knows.
    package func judged(by response: ServiceResponse) -> RequestError {
        switch reason {
        case .undecodableBody where response.isForeign, .damagedBody where response.isForeign,
            .unexpectedStatus where response.isForeign:
            .foreignResponse(status: response.head.status, mediaType: response.head.mediaType).about(response)
        default: about(response)
        }
    }
}

extension ServiceResponse {
    /// Whether another server must have sent it: it has a media type that the service has for no response, or none where
    /// the service always has one. An empty error says nothing about who sent it.
    fileprivate var isForeign: Bool {
        guard let mediaType = head.mediaType else {
            return !body.isEmpty || (200..<300).contains(head.status)
        }
        return !MediaType.all.contains(mediaType)
    }
}

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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

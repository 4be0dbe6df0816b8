import Foundation
import Locking
import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Watches the attempts of one edit, to know at the end whether the service may have done it.
///
/// The last attempt alone doesn't tell: where the response to the first is lost and the second is refused for want of a key,
/// the first may still have been done.
final class EditAttempts: Sendable {
    private struct State {
        var isUnderWay = false
        var mayBeDone = false
    }

    private let edit: PlaceEdit
    private let state: Lock<State>

    /// - Parameter mayBeDone: whether earlier attempts may have done it.
    init(_ edit: PlaceEdit, mayBeDone: Bool) {
        self.edit = edit
        state = Lock(State(mayBeDone: mayBeDone))
    }

    /// Whether the edit may be done although no response says so.
    var mayBeDone: Bool { state.withLock { $0.isUnderWay || $0.mayBeDone } }

    /// Returns a transport that has each attempt watched.
    func watching(_ base: any Transport) -> any Transport {
        WatchedTransport(base: base, attempts: self, edit: edit)
    }

    fileprivate func begin() {
        state.withLock { $0.isUnderWay = true }
    }

    fileprivate func end(_ outcome: Result<ServiceResponse, RequestError>) {
        state.withLock { state in
            state.isUnderWay = false
            switch AttemptMeaning(outcome) {
            case .settled: state.mayBeDone = false
            case .notBegun: break
            case .unknown: state.mayBeDone = true
            }
        }
    }
}

private struct WatchedTransport: Transport {
    let base: any Transport
    let attempts: EditAttempts
    let edit: PlaceEdit

    func send(_ request: URLRequest) async throws(RequestError) -> ServiceResponse {
        attempts.begin()
        let outcome = await base.outcome(of: request).whole(edit)
        attempts.end(outcome)
        return try outcome.get()
    }
}

extension Result<ServiceResponse, RequestError> {
    /// The outcome, or a failure where a response that succeeds can't be read, so that it is asked for again.
    fileprivate func whole(_ edit: PlaceEdit) -> Self {
        guard case .success(let response) = self, (200..<300).contains(response.head.status) else {
            return self
        }
        do throws(RequestError) {
            _ = try edit.record(in: response)
            return self
        } catch {
            return .failure(error)
        }
    }
}

/// What an attempt tells of whether the edit is done.
private enum AttemptMeaning {
    /// The service has said what became of the edit, by its key of all attempts: it is done, or it won't be.
    case settled
    /// This attempt has changed nothing. That says nothing of those before it.
    case notBegun
    /// It may be done.
    case unknown

    /// Errors by which no request has reached the service.
    private static let errorsBeforeSending: Set<URLError.Code> = [
        .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet, .dataNotAllowed,
        .internationalRoamingOff, .callIsActive, .secureConnectionFailed, .serverCertificateHasBadDate,
        .serverCertificateNotYetValid, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
        .clientCertificateRejected, .clientCertificateRequired, .userAuthenticationRequired, .unsupportedURL,
        .badURL,
    ]

    init(_ outcome: Result<ServiceResponse, RequestError>) {
        switch outcome {
        case .success(let response) where (200..<300).contains(response.head.status): self = .settled
        case .success(let response): self.init(refusal: RequestError(refusal: response))
        case .failure(let error):
            switch error.reason {
            case .transport:
                let isBefore = error.urlErrorCode.map(Self.errorsBeforeSending.contains) ?? false
                self = isBefore ? .notBegun : .unknown
            case .redirectRefused, .invalidBaseURL: self = .notBegun
            default: self = .unknown
            }
        }
    }

    /// What a response means that doesn't succeed. Only the service itself, by its problems, settles anything: a proxy refuses
    /// in its own name, and one that has sent the request on says so by a status of its own from 500 on.
    private init(refusal: RequestError) {
        switch refusal.reason {
        case .problem(let problem):
            switch problem.code {
            case .overloaded, .notReady, .unauthorized, .forbidden, .notAnEditor, .tooManyRequests,
                .requestTimeout:
                self = .notBegun
            // Another program's.
            case .unspecified: self = problem.status < 500 ? .notBegun : .unknown
            default: self = (400..<500).contains(problem.status) ? .settled : .unknown
            }
        case .unexpectedStatus(let status): self = (300..<500).contains(status) ? .notBegun : .unknown
        default: self = .unknown
        }
    }
}

import Foundation
import Locking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Returns the header fields that an app adds to a request to an endpoint. It is called before each attempt, so it can
/// renew a token.
///
/// A fixed key is `{ _ in ["Authorization": "Bearer \(key)"] }`, a key of its own for events
/// `{ $0 == .events ? ["Authorization": "Bearer \(eventsKey)"] : ["Authorization": "Bearer \(key)"] }`. It isn't called
/// for requests to another origin (scheme, host and port) than the service's. An error that it throws fails the request:
/// a `RequestError` is thrown as it is, a `URLError` as `RequestError.transport` with its code, any other error as
/// `.transport` with the code `userAuthenticationRequired`.
public typealias HeaderProvider = @Sendable (ServiceEndpoint) async throws -> [String: String]

/// Renews the key that the service has refused with status 401 (RFC 9110, section 15.5.2), so that the `HeaderProvider`
/// returns another one.
///
/// One call serves all requests that wait for it, and calls never overlap. Each request is then sent once more; if it is
/// refused again, that is final. The endpoint is the one of the request that was refused first: events and editing may each
/// have a key of their own, all other endpoints share one. A request that has waited for another kind of key and is refused
/// again has its own renewed.
///
/// An error that it throws fails the requests that wait, as an error of the `HeaderProvider` does. The task is cancelled
/// when no request waits for it any more, and another call may then begin.
public typealias KeyRenewer = @Sendable (ServiceEndpoint) async throws -> Void

/// Adds the app's own header fields to the attempts of one request, a token for instance, and has the key renewed after
/// a 401. Both concern requests to the service's origin only: the fields mustn't get to another host.
struct AuthorizingTransport: Transport {
    let base: any Transport
    /// The endpoint that the request is for.
    let endpoint: ServiceEndpoint
    /// Where the service is.
    let baseURL: URL
    let headers: HeaderProvider
    /// Nil where a refused key isn't renewed.
    let renewals: KeyRenewals?
    /// Whether the request had its renewal, so that another 401 is final.
    private let isRenewed = Lock(false)

    func send(_ request: URLRequest) async throws(RequestError) -> ServiceResponse {
        guard request.url?.isOfService(at: baseURL) == true else { return try await base.send(request) }
        while true {
            // Before the fields are made: a renewal that ends later has to be seen.
            let seen = await renewals?.ended
            let fields = try await headerFields()
            var authorized = request
            for (name, value) in fields { authorized.setValue(value, forHTTPHeaderField: name) }
            let response = try await base.send(authorized)
            guard let renewals, let seen, response.head.status == 401, !fields.isEmpty,
                response.head.url?.isOfService(at: baseURL) ?? true, !isRenewed.withLock({ $0 })
            else { return response }
            let isOwn = try await renewals.renew(for: endpoint, since: seen)
            isRenewed.withLock { $0 = isOwn }
        }
    }

    private func headerFields() async throws(RequestError) -> [String: String] {
        do {
            return try await headers(endpoint)
        } catch {
            throw RequestError(appError: error)
        }
    }
}

/// Calls the app's `KeyRenewer`, once for all requests that wait.
actor KeyRenewals {
    /// Which key an endpoint has.
    enum Key: Hashable, Sendable {
        case events, editing, others

        init(_ endpoint: ServiceEndpoint) {
            switch endpoint {
            case .events: self = .events
            case .editing: self = .editing
            default: self = .others
            }
        }
    }

    private struct Renewal {
        let number: Int
        let key: Key
        let task: Task<Void, Never>
    }

    private let renewer: KeyRenewer
    /// The renewal that requests wait for.
    private var current: Renewal?
    private var waiting: [UUID: CheckedContinuation<Result<Void, any Error>, Never>] = [:]
    private var lastNumber = 0
    /// How many renewals of each key have succeeded.
    private(set) var ended: [Key: Int] = [:]

    init(_ renewer: @escaping KeyRenewer) {
        self.renewer = renewer
    }

    /// Waits until a key is renewed that a request was refused with.
    ///
    /// It returns at once where a renewal has ended since the request's header fields were made.
    ///
    /// - Parameter seen: the value of `ended` before the header fields were made.
    /// - Returns: whether the endpoint's own key was renewed; else it was another one, which may be the same.
    /// - Throws: `.cancelled` at once where the task is cancelled, else what the app threw.
    func renew(for endpoint: ServiceEndpoint, since seen: [Key: Int]) async throws(RequestError) -> Bool {
        let key = Key(endpoint)
        if ended[key] != seen[key] { return true }
        if ended != seen { return false }
        let renewal = current ?? begin(endpoint, key)
        let id = UUID()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { waiting[id] = $0 }
        } onCancel: {
            Task { await self.leave(id) }
        }
        switch outcome {
        case .success: return renewal.key == key
        case .failure(let error): throw RequestError(appError: error)
        }
    }

    private func begin(_ endpoint: ServiceEndpoint, _ key: Key) -> Renewal {
        lastNumber += 1
        let task = Task { [renewer, number = lastNumber] in
            do {
                try await renewer(endpoint)
                end(number, .success(()))
            } catch {
                end(number, .failure(error))
            }
        }
        let renewal = Renewal(number: lastNumber, key: key, task: task)
        current = renewal
        return renewal
    }

    /// Passes the outcome on, unless the renewal was given up.
    private func end(_ number: Int, _ outcome: Result<Void, any Error>) {
        guard let renewal = current, renewal.number == number else { return }
        current = nil
        if case .success = outcome { ended[renewal.key, default: 0] += 1 }
        let continuations = waiting.values
        waiting = [:]
        for continuation in continuations { continuation.resume(returning: outcome) }
    }

    /// Ends the wait of a request that is cancelled. When no other one waits, the renewal is given up.
    private func leave(_ id: UUID) {
        guard let continuation = waiting.removeValue(forKey: id) else { return }
        if waiting.isEmpty {
            current?.task.cancel()
            current = nil
        }
        continuation.resume(returning: .failure(CancellationError()))
    }
}

extension RequestError {
    /// Converts an error of the app's, where it can't make the header fields or renew the key.
    fileprivate init(appError error: any Error) {
        switch error {
        case let error as RequestError: self = error
        case is URLError, is CancellationError: self.init(transportError: error)
        default:
            // Sending the request again wouldn't help.
            self = .transport(
                code: URLError.userAuthenticationRequired.rawValue, reason: error.localizedDescription)
        }
    }
}

/// Who waits for a place on a connection of a pool.
enum PoolWaiter {
    /// A single query, to be sent as soon as there is a place.
    case query(PendingQuery)
    /// Somebody who wants a connection for a while.
    case lease(PendingLease)

    /// Tells that there will be no place.
    func refuse(_ error: PostgresError) {
        switch self {
        case .query(let query): query.answer(.failure(error))
        case .lease(let lease): lease.answer(.failure(error))
        }
    }

    /// Whether this is that query or that lease.
    func isIdentical(to object: AnyObject) -> Bool {
        switch self {
        case .query(let query): query === object
        case .lease(let lease): lease === object
        }
    }
}

/// A wish for a connection. Confined to its loop.
final class PendingLease {
    /// The slot whose connection is the caller's from now on.
    typealias Answer = Result<Int, PostgresError>

    var continuation: UnsafeContinuation<Answer, Never>?

    /// Answers the caller, unless that has happened.
    func answer(_ answer: Answer) {
        continuation?.resume(returning: answer)
        continuation = nil
    }
}

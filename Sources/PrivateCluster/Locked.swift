import Foundation

/// A value behind a lock. ThreadSanitizer, under which tests that use a cluster run too, reports false races with
/// Synchronization.Mutex, which would spare us the unchecked conformance: here NSLock is what makes it sound.
final class Locked<State>: @unchecked Sendable {
    private let lock = NSLock()
    private var state: State

    init(_ state: State) { self.state = state }

    func withLock<R>(_ body: (inout State) throws -> R) rethrows -> R {
        try lock.withLock { try body(&state) }
    }
}

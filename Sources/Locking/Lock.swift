#if canImport(Darwin)
    package import Darwin
#else
    package import Glibc
#endif

/// A mutex and the state that it protects.
///
/// Built on pthreads, because ThreadSanitizer does not understand `Synchronization.Mutex` and
/// reports false races with it. Usable from any thread; not recursive.
///
/// A function isn't a state by itself but in a structure: where a generic type stores a function, Swift wraps it again
/// for each access and stores the wrapped one.
public final class Lock<State>: @unchecked Sendable {
    // @unchecked: `state` is used between pthread_mutex_lock and pthread_mutex_unlock only.
    private var state: State
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// Makes a lock that protects `state`.
    public init(_ state: sending State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let status = pthread_mutex_init(mutex, nil)
        precondition(status == 0, "pthread_mutex_init failed: \(status)")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with the state, while no other thread uses it.
    ///
    /// - Throws: what `body` throws.
    public func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Waits on `condition` until `body` returns a result, and returns that.
    ///
    /// Calls `body` again after each wait. An `inout` that is open during the wait would let the optimiser assume that
    /// no other thread changes the state meanwhile.
    package func wait<Result>(
        on condition: UnsafeMutablePointer<pthread_cond_t>, _ body: (inout State) -> Result?
    ) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            pthread_cond_wait(condition, mutex)
        }
    }
}

extension Lock<Bool> {
    /// Returns true to the first caller and false to all others.
    public func claim() -> Bool {
        withLock { isClaimed in
            defer { isClaimed = true }
            return !isClaimed
        }
    }
}

/// State that one thread uses, in memory of its own, so that accesses to it cost nothing.
///
/// Swift checks each access to a class's stored property at run time where it can't prove that no other access overlaps it
/// (SE-0176), at about 80 instructions each. Accesses to this value aren't checked. Whoever has it uses it on one thread, and
/// calls nothing while it accesses the value that accesses it, too.
@frozen
public struct Confined<Value: ~Copyable>: ~Copyable {
    @usableFromInline
    let pointer: UnsafeMutablePointer<Value>

    /// Keeps a value.
    @inlinable
    public init(_ value: consuming Value) {
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: value)
    }

    @inlinable
    deinit {
        pointer.deinitialize(count: 1)
        pointer.deallocate()
    }

    /// The value.
    ///
    /// By addressors, as `UnsafeMutablePointer.pointee`: coroutines (`_read`, `_modify`) are not always inlined.
    @inlinable
    public var value: Value {
        @inline(__always) unsafeAddress { UnsafePointer(pointer) }
        @inline(__always) nonmutating unsafeMutableAddress { pointer }
    }
}

import Locking
import SpatialIndex
import Synchronization

/// The snapshot that a process serves: one pointer, which readers load without a lock.
///
/// A reader is a thread that runs turns, such as a loop. It reads the snapshot within a turn and keeps nothing of it. When a
/// snapshot is replaced, each reader runs a job between two of its turns. Once all have done so, no turn that began before
/// can still be reading the old snapshot, and it is freed.
package final class PublishedIndex: Sendable {
    /// Runs a job on a reader's thread, between two of its turns.
    package typealias Runner = @Sendable (_ job: @escaping @Sendable () -> Void) -> Void

    package struct Reader: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// A replaced snapshot, which some readers may still be reading.
    fileprivate final class Retired: Sendable {
        private let snapshot: Lock<IndexSnapshot?>

        init(_ snapshot: IndexSnapshot) { self.snapshot = Lock(snapshot) }

        /// Lets go of the snapshot, which frees it if nobody has pinned it.
        func free() {
            let snapshot = snapshot.withLock { snapshot in
                defer { snapshot = nil }
                return snapshot
            }
            withExtendedLifetime(snapshot) {}
        }
    }

    fileprivate struct State {
        var snapshot: IndexSnapshot?
        var readers: [Int: Runner] = [:]
        var nextReader = 0
        var retired: [Int: (snapshot: Retired, waitingFor: Set<Int>)] = [:]
        var nextRetired = 0
    }

    /// The address of `State.snapshot`; 0 where there is none. (An atomic pointer isn't Sendable.)
    private let current = Atomic<UInt>(0)
    private let state = Lock(State())

    private let runFreeing: Runner

    /// Starts without a snapshot.
    ///
    /// - Parameter runFreeing: runs a job that frees a replaced snapshot; the last reader calls it.
    package init(runFreeing: @escaping Runner = { job in job() }) {
        self.runFreeing = runFreeing
    }

    /// Adds a thread that will call `withSnapshot`.
    package func addReader(_ run: @escaping Runner) -> Reader {
        state.withLock { state in
            state.nextReader += 1
            state.readers[state.nextReader] = run
            return Reader(number: state.nextReader)
        }
    }

    /// Removes a thread that doesn't call `withSnapshot` any more, and needn't run jobs.
    package func removeReader(_ reader: Reader) {
        let freed = state.withLock { state in
            state.readers[reader.number] = nil
            return state.retired.keys.compactMap { state.release($0, for: reader.number) }
        }
        for retired in freed { runFreeing { retired.free() } }
    }

    /// Replaces the snapshot, from any thread.
    package func publish(_ snapshot: IndexSnapshot) { replace(with: snapshot) }

    /// Removes the snapshot: from now on there is none.
    package func withdraw() { replace(with: nil) }

    /// How many replaced snapshots readers may still be reading.
    package var retiredCount: Int { state.withLock { $0.retired.count } }

    private func replace(with snapshot: IndexSnapshot?) {
        let (retired, jobs) = state.withLock { state in
            let retired = state.snapshot.map { Retired($0) }
            state.snapshot = snapshot
            let address = snapshot.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) }
            current.store(address ?? 0, ordering: .releasing)
            return (retired, retired.map { state.retire($0) } ?? [])
        }
        if let retired, jobs.isEmpty { runFreeing { retired.free() } }
        for (reader, number, run) in jobs {
            run { [self] in
                guard let retired = state.withLock({ $0.release(number, for: reader) }) else { return }
                runFreeing { retired.free() }
            }
        }
    }

    /// Runs `body` with the snapshot, which must not be kept, nor used across a suspension. Only on the thread of a reader.
    package func withSnapshot<Result>(_ body: (IndexSnapshot) throws -> Result) rethrows -> Result? {
        guard let pointer = UnsafeRawPointer(bitPattern: current.load(ordering: .acquiring)) else {
            return nil
        }
        return try Unmanaged<IndexSnapshot>.fromOpaque(pointer)._withUnsafeGuaranteedRef(body)
    }

    /// The snapshot, which stays as long as the reference to it: for a search that goes on in a helper thread. Any thread.
    package func pinned() -> IndexSnapshot? { state.withLock { $0.snapshot } }
}

extension PublishedIndex.State {
    /// Keeps a replaced snapshot until all readers have passed a turn; returns their jobs, none if there is no reader.
    fileprivate mutating func retire(
        _ old: PublishedIndex.Retired
    ) -> [(reader: Int, number: Int, run: PublishedIndex.Runner)] {
        guard !readers.isEmpty else { return [] }
        nextRetired += 1
        retired[nextRetired] = (old, Set(readers.keys))
        return readers.map { ($0.key, nextRetired, $0.value) }
    }

    /// Notes that a reader has passed a turn; returns the snapshot if that was the last one.
    fileprivate mutating func release(_ number: Int, for reader: Int) -> PublishedIndex.Retired? {
        retired[number]?.waitingFor.remove(reader)
        guard let old = retired[number], old.waitingFor.isEmpty else { return nil }
        retired[number] = nil
        return old.snapshot
    }
}

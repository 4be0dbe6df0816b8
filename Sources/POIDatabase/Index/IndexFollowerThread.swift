import EventLoop
import Locking
import Places
import Telemetry

/// Runs the follower of a process on a thread of its own.
public final class IndexFollowerThread: Sendable {
    /// What stores serve from.
    public let index: ServedIndex
    private let thread: EventLoopThread
    private let follower = Lock<LoopBound<IndexFollower>?>(nil)
    private let makeFollower: @Sendable () -> LoopBound<IndexFollower>

    /// Starts the thread, which does nothing until `begin()`.
    ///
    /// - Parameters:
    ///   - dataset: tells of changes, once one of the process's stores watches the database.
    ///   - route: where reads go, if they have an address of their own; the same as the stores'.
    ///   - connectionLog: logs what happens to the connection.
    ///   - record: gets what happens to the places in memory.
    /// - Throws: `EventLoopError` if the system has no thread or no file descriptor left.
    public init(
        _ configuration: DatabaseConfiguration, dataset: DatasetState, route: ReadRoute?,
        connectionLog: ConnectionLog, record: @escaping @Sendable (Observation) -> Void
    ) throws {
        let index = ServedIndex(freshTime: configuration.maxReplicaLag)
        self.index = index
        thread = try EventLoopThread.start(name: "poi-follow")
        makeFollower = { [loop = thread.loop] in
            LoopBound(
                IndexFollower(
                    configuration, index: index, route: route, loop: loop, connectionLog: connectionLog,
                    record: record),
                loop: loop)
        }
        dataset.onRenewal { [loop = thread.loop, follower] id in
            loop.execute { follower.withLock { $0 }?.value.hint(id) }
        }
    }

    /// Starts to connect. Call it once.
    public func begin() {
        thread.loop.execute { [follower, makeFollower] in
            let bound = makeFollower()
            follower.withLock { $0 = bound }
        }
    }

    /// Stops serving from memory, and ends the thread. Blocks; call it once, from another thread.
    public func stop() {
        let loop = thread.loop
        loop.execute { [follower] in
            guard let follower = follower.withLock({ $0 }) else { return loop.stop() }
            Task(executorPreference: loop) {
                await follower.value.close()
                loop.stop()
            }
        }
        thread.join()
    }
}

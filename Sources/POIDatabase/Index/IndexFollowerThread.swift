import EventLoop
import Locking
import Migrator
import Places
import Telemetry

/// Runs the follower of a process on a thread of its own.
package final class IndexFollowerThread: Sendable {
    /// What stores serve from.
    package let index: ServedIndex
    private let thread: EventLoopThread
    private let follower = Lock<LoopBound<IndexFollower>?>(nil)
    private let makeFollower: @Sendable () -> LoopBound<IndexFollower>

    /// Starts the thread, which does nothing until `begin()`.
    ///
    /// - Throws: `EventLoopError` if the system has no thread or no file descriptor left.
    package init(
        _ configuration: DatabaseConfiguration, migrations: MigrationDirectory,
        connectionLog: ConnectionLog, record: @escaping @Sendable (Observation) -> Void
    ) throws {
        // A change is seen in milliseconds all the same, and places are read again while requests are served.
        thread = try EventLoopThread.start(name: "poi-follow", yields: true)
        let index = ServedIndex(freshTime: configuration.maxReplicaLag) { [loop = thread.loop] in
            loop.execute($0)
        }
        self.index = index
        makeFollower = { [loop = thread.loop] in
            LoopBound(
                IndexFollower(
                    configuration, migrations: migrations, index: index, loop: loop,
                    connectionLog: connectionLog, record: record),
                loop: loop)
        }
    }

    /// Starts to connect. Call it once.
    package func begin() {
        thread.loop.execute { [follower, makeFollower] in
            let bound = makeFollower()
            follower.withLock { $0 = bound }
        }
    }

    /// Stops serving from memory, and ends the thread. Blocks; call it once, from another thread.
    package func stop() {
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

import EventLoop
import Postgres

/// A loop's connections for reads, which follow a `ReadRoute` where there is one. Confined to its loop.
final class ReadConnections {
    let pool: ConnectionPool
    private var timer: LoopTimer?

    /// How often connections are looked at whose server may be left out by now, or where a better one may be back.
    private static let interval = Duration.seconds(1)

    /// Starts connecting.
    ///
    /// - Parameter observe: called on the loop with what happens to connections.
    init(
        _ configuration: DatabaseConfiguration, route: ReadRoute?, loop: EventLoop,
        observe: @escaping (PoolObservation) -> Void = { _ in }
    ) {
        guard let route else {
            pool = ConnectionPool(
                configuration.postgres, options: configuration.pool, loop: loop, observe: observe)
            return
        }
        let pool = ConnectionPool(
            route: { route.configurations }, options: configuration.pool, loop: loop, observe: observe)
        self.pool = pool
        timer = LoopTimer(loop: loop) {
            pool.review { route.fate(of: $0, now: loop.now) }
        }
        timer?.start(after: Self.interval, repeating: Self.interval)
    }

    /// Closes the connections.
    func close() async {
        timer?.close()
        timer = nil
        await pool.close()
    }
}

/// A pool's sizes and times.
public struct PoolOptions: Sendable, Hashable {
    /// Connections of the fast lane; where there are none, queries wait there in vain.
    public var fastConnections = 2
    /// Queries in flight on each of them, at least 1.
    public var fastDepth = 32
    /// Connections of the exclusive lane, at least 1.
    public var exclusiveConnections = 4
    /// Connections of the text lane; where there are none, queries wait there in vain.
    public var textConnections = 0
    /// The most connections of a pool.
    public var connections: Int { fastConnections + exclusiveConnections + textConnections }
    /// How many queries may wait for a place, in each lane.
    public var waitersPerLane = 1024
    /// How long a query may wait for a place.
    public var acquireTimeout: Duration = .seconds(1)
    /// How long a query may take once it has a place; what a query says itself goes before it.
    public var queryTimeout: Duration? = .seconds(2)
    /// After which idle time a connection is asked whether it still answers.
    public var healthCheckInterval: Duration = .seconds(30)

    /// The defaults.
    public init() {}

    func limits(of lane: PoolLaneName) -> (connections: Int, depth: Int) {
        switch lane {
        case .fast: (max(0, fastConnections), max(1, fastDepth))
        case .exclusive: (max(1, exclusiveConnections), 1)
        case .text: (max(0, textConnections), 1)
        }
    }
}

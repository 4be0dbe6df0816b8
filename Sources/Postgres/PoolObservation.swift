/// What a pool has to tell, for logs and metrics.
public enum PoolObservation: Sendable {
    /// A connection has been made.
    case connected(PoolLaneName)
    /// An attempt has failed; another follows.
    case connectFailed(PoolLaneName, PostgresError)
    /// A connection has ended by itself.
    case connectionLost(PoolLaneName, PostgresError)
    /// The server sent a notice.
    case notice(PostgresServerReport)
}

/// The lanes of a pool.
public enum PoolLaneName: String, Sendable, Hashable, CaseIterable {
    /// Many queries in flight on each of a few connections, for queries whose cost doesn't depend on data:
    /// one that takes long holds up those behind it.
    case fast
    /// One query, or one snapshot, at a time on each connection.
    case exclusive
    /// The same for searches by text, which may take long: they leave the other lanes' connections alone.
    case text
}

import PointsOfInterestAPI

/// Where the service's places are kept.
///
/// A store belongs to one loop and is used on its thread only. Every store answers exactly what a scan
/// over all places would, in the order of `Ranking`.
public protocol LocationStore: AnyObject {
    /// The places that a request asks for, nearest first, with their distances.
    func locations(for request: LocationsRequest) async throws(LocationStoreError) -> [PointOfInterest]

    /// Whether the store could answer now.
    func checkHealth() async -> StoreHealth

    /// Lets go of what the store holds; to be awaited before its loop stops.
    func close() async
}

/// What a store knows of its own state.
public enum StoreHealth: Hashable, Sendable {
    /// It can't be asked; `reason` is for the log, never for a client.
    case unreachable(reason: String)
    /// It answers, and these migrations, which this binary relies on, are missing.
    case reachable(missingMigrations: [String])
}

/// Why a store has no answer; what a client is told of it, and no more.
public enum LocationStoreError: Error, Hashable, Sendable {
    /// The database can't be reached; `reason` is for the log.
    case unavailable(reason: String)
    /// No connection came free in time.
    case busy
    /// The query took longer than it may.
    case timeout
    /// The client has gone, and the query with it.
    case cancelled
    /// The store failed; `reason` is for the log, never for a client.
    case failed(reason: String)
}

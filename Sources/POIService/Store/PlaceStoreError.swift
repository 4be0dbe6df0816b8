/// Why a store has no answer; what a client is told of it, and no more.
public enum PlaceStoreError: Error, Hashable, Sendable {
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

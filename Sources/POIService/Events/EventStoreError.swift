/// Why a batch of events has no answer; what a client is told of it, and no more.
///
/// Whatever the reason, sending the batch again is harmless.
public enum EventStoreError: Error, Hashable, Sendable {
    /// The database can't be reached, or nobody knows whether it has the batch; `reason` is for the log, and
    /// holds nothing of an event.
    case unavailable(reason: String)
    /// As many events wait as may.
    case busy
    /// The store failed; `reason` is for the log, and holds nothing of an event.
    case failed(reason: String)
}

import HTTPServer

/// The service's databases, which may be one.
public enum DatabaseName: String, Sendable, Hashable, CaseIterable {
    /// The one that places are read from.
    case places
    /// The one that events are written to.
    case events
}

/// What happens in the service and somebody may want to know.
///
/// Code emits cases; the log and the metrics decide what to show of them.
public enum Observation: Sendable {
    /// The process serves at this address.
    case listening(url: String)
    /// The process serves health and metrics at this address.
    case adminListening(url: String)
    /// There are fewer file descriptors than the connections need that are set.
    case connectionsLowered(from: Int, to: Int, descriptors: Int)
    /// A connection of a client could not be taken; told once a minute at most.
    case acceptFailed(reason: String)
    /// A request was answered, or its client has gone.
    case request(RequestObservation)
    /// A request failed for a reason that its client isn't told.
    case failure(requestID: String, traceID: String? = nil, reason: String)
    /// A database answers.
    case databaseReachable(DatabaseName)
    /// A database doesn't answer.
    case databaseUnreachable(DatabaseName, reason: String)
    /// A connection to a database could not be made; `kind` is the reason's, for programs.
    case databaseConnectFailed(DatabaseName, kind: String, reason: String)
    /// A connection to a database has ended by itself.
    case databaseConnectionLost(DatabaseName, reason: String)
    /// A database sent a notice or a warning.
    case databaseNotice(DatabaseName, String)
    /// A server for reads answers and has what it should: reads may go there.
    case readServerUsable(server: String, isStandby: Bool)
    /// A server for reads is too far behind the primary: no reads go there.
    case readServerLagging(server: String, lag: Duration)
    /// A server for reads doesn't answer: no reads go there while another does.
    case readServerSilent(server: String, reason: String)
    /// Migrations that this binary relies on aren't applied.
    case migrationsMissing([String])
    /// A newer release has applied migrations that say that this binary is too old for them.
    case programOutdated([String])
    /// All migrations that this binary relies on are applied.
    case migrationsApplied
    /// A batch of the app's events was stored; for metrics.
    case eventsStored(EventCounts)
    /// A batch of the app's events was refused for its faults; for metrics.
    case eventsRefused
    /// Partitions were made for the events of the months to come.
    case eventPartitionsMade([String])
    /// No partition could be made for the events of a month to come.
    case eventPartitionsFailed(reason: String)
    /// The process was told to end: it isn't ready any more, and serves on for a while.
    case stopping(signal: String, drainDelay: Duration)
    /// The process takes no new connection, and finishes what is in flight.
    case finishing
    /// So many connections had requests that weren't done in time, and were cut off.
    case cutOff(connections: Int)
    /// The process has ended its work.
    case stopped
    /// The log's reader was too slow for so many lines.
    case logLinesDropped(Int)
}

extension Observation {
    /// Whether it is for metrics alone: as a line it would say again what the request's own line says.
    var isOnlyCounted: Bool {
        switch self {
        case .eventsStored, .eventsRefused: true
        default: false
        }
    }
}

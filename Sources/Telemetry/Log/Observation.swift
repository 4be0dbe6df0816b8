import Program

/// The service's databases. Both may be the same one.
public enum DatabaseName: String, Sendable, Hashable, CaseIterable {
    /// The database that places are read from.
    case places
    /// The database that events are written to.
    case events
}

/// What happens in the service, for its log and its metrics.
///
/// Code records cases; the log and the metrics decide what they show of them.
public enum Observation: Sendable {
    /// The process serves at this address.
    case listening(url: String)
    /// The process serves health and metrics at this address.
    case adminListening(url: String)
    /// There are fewer file descriptors than the configured connections need.
    case connectionsLowered(from: Int, to: Int, descriptors: Int)
    /// A client's connection could not be accepted; at most once a minute.
    case acceptFailed(reason: String)
    /// A request failed for a reason that only the log has.
    case failure(requestID: String, traceID: String? = nil, reason: String)
    /// A database can be reached.
    case databaseReachable(DatabaseName)
    /// A database can't be reached.
    case databaseUnreachable(DatabaseName, reason: String)
    /// A connection to a database could not be made; `kind` is the reason in a form for programs.
    case databaseConnectFailed(DatabaseName, kind: String, reason: String)
    /// A connection to a database was lost.
    case databaseConnectionLost(DatabaseName, reason: String)
    /// A database sent a notice or a warning.
    case databaseNotice(DatabaseName, String)
    /// A server for reads can be reached and is up to date: reads may go there.
    case readServerUsable(server: String, isStandby: Bool)
    /// A server for reads is too far behind the primary: no reads go there.
    case readServerLagging(server: String, lag: Duration)
    /// A server for reads can't be reached: no reads go there while another server is usable.
    case readServerSilent(server: String, reason: String)
    /// Migrations that this program needs aren't applied.
    case migrationsMissing([String])
    /// All migrations that this program needs are applied.
    case migrationsApplied
    /// A batch of the app's events was stored; for metrics.
    case eventsStored(EventCounts)
    /// A batch of the app's events was refused for its faults; for metrics.
    case eventsRefused
    /// Partitions for the events of the next months were made.
    case eventPartitionsMade([String])
    /// A partition for the events of a next month could not be made.
    case eventPartitionsFailed(reason: String)
    /// The process was told to end: it isn't ready any more, and goes on serving for the drain delay.
    case stopping(signal: String, drainDelay: Duration)
    /// The process accepts no new connections, and finishes the requests in flight.
    case finishing
    /// Connections were cut off, since their requests took too long.
    case cutOff(connections: Int)
    /// The process is about to end.
    case stopped
    /// Lines of the log were dropped.
    case logLinesDropped(Int)
    /// Something has happened to the places in memory.
    case index(IndexObservation)
}

extension Observation {
    var level: String {
        switch self {
        case .listening, .adminListening, .databaseReachable, .readServerUsable, .migrationsApplied,
            .stopping, .finishing, .stopped, .eventsStored, .eventsRefused, .eventPartitionsMade,
            .databaseNotice:
            "info"
        case .databaseUnreachable, .databaseConnectFailed, .databaseConnectionLost, .readServerLagging,
            .readServerSilent, .migrationsMissing, .logLinesDropped,
            .cutOff,
            .eventPartitionsFailed, .connectionsLowered, .acceptFailed:
            "warning"
        case .failure: "error"
        case .index(let observation): observation.level
        }
    }

    var name: String {
        switch self {
        case .listening: "listening"
        case .adminListening: "admin-listening"
        case .connectionsLowered: "connections-lowered"
        case .acceptFailed: "accept-failed"
        case .failure: "failure"
        case .databaseReachable: "database-reachable"
        case .databaseUnreachable: "database-unreachable"
        case .databaseConnectFailed: "database-connect-failed"
        case .databaseConnectionLost: "database-connection-lost"
        case .databaseNotice: "database-notice"
        case .readServerUsable: "read-server-usable"
        case .readServerLagging: "read-server-lagging"
        case .readServerSilent: "read-server-silent"
        case .migrationsMissing: "migrations-missing"
        case .migrationsApplied: "migrations-applied"
        // Never logged.
        case .eventsStored, .eventsRefused: "counted"
        case .eventPartitionsMade: "event-partitions-made"
        case .eventPartitionsFailed: "event-partitions-failed"
        case .stopping: "stopping"
        case .finishing: "finishing"
        case .cutOff: "cut-off"
        case .stopped: "stopped"
        case .logLinesDropped: "log-lines-dropped"
        case .index(let observation): observation.name
        }
    }

    var message: String {
        switch self {
        case .listening(let url): "serving \(url)"
        case .adminListening(let url): "serving health and metrics at \(url)"
        case .connectionsLowered(let wanted, let count, let descriptors):
            "at most \(count) connections instead of \(wanted): the process may open \(descriptors) files"
        case .acceptFailed(let reason): "a connection was not accepted: \(reason)"
        case .failure(let requestID, _, let reason): "request \(requestID) failed: \(reason)"
        case .databaseReachable(let database): "the database of \(database) can be reached"
        case .databaseUnreachable(let database, let reason):
            "the database of \(database) cannot be reached: \(reason)"
        case .databaseConnectFailed(let database, _, let reason):
            "can't connect to the database of \(database): \(reason)"
        case .databaseConnectionLost(let database, let reason):
            "a connection to the database of \(database) was lost: \(reason)"
        case .databaseNotice(let database, let notice): "the database of \(database) says: \(notice)"
        case .readServerUsable(let server, let isStandby):
            "reads may go to \(server), a \(isStandby ? "standby" : "primary")"
        case .readServerLagging(let server, let lag):
            "no reads go to \(server), which is \(lag.components.seconds) s behind"
        case .readServerSilent(let server, let reason):
            "no reads go to \(server) while another server can be reached: \(reason)"
        case .migrationsMissing(let versions):
            "migrations are missing, run poi migrate up: \(versions.joined(separator: ", "))"
        case .migrationsApplied: "all migrations are applied"
        case .eventsStored, .eventsRefused: "counted"
        case .eventPartitionsMade(let names): "made partitions for events: \(names.joined(separator: ", "))"
        case .eventPartitionsFailed(let reason):
            "can't make partitions for events, run poi events maintain: \(reason)"
        case .stopping(let signal, let drainDelay):
            "\(signal): not ready any more, still serving for \(drainDelay.settingText)"
        case .finishing: "accepting no new connections, finishing requests in flight"
        case .cutOff(let connections): "\(connections) connections were cut off: their requests took too long"
        case .stopped: "stopped"
        case .logLinesDropped(let count):
            "\(count) log lines were dropped: their reader was too slow, or they could not be written"
        case .index(let observation): observation.message
        }
    }

    /// Whether it is for metrics only. It needs no line in the log, since the request has its own line.
    var isOnlyCounted: Bool {
        switch self {
        case .eventsStored, .eventsRefused: true
        default: false
        }
    }
}

/// The numbers of events in a batch, without their content.
public struct EventCounts: Hashable, Sendable {
    /// New events, which were stored.
    public let accepted: Int
    /// Events that had been stored before.
    public let duplicates: Int
    /// New events and duplicates whose name has no definition. They come from a newer app.
    public let unknownNames: Int

    /// Makes counts.
    public init(accepted: Int, duplicates: Int, unknownNames: Int) {
        self.accepted = accepted
        self.duplicates = duplicates
        self.unknownNames = unknownNames
    }
}

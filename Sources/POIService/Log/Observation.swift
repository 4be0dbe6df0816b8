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
    var level: String {
        switch self {
        case .listening, .adminListening, .request, .databaseReachable, .readServerUsable, .migrationsApplied,
            .stopping, .finishing, .stopped, .eventsStored, .eventsRefused, .eventPartitionsMade,
            .databaseNotice:
            "info"
        case .databaseUnreachable, .databaseConnectFailed, .databaseConnectionLost, .readServerLagging,
            .readServerSilent, .migrationsMissing, .programOutdated, .logLinesDropped, .cutOff,
            .eventPartitionsFailed, .connectionsLowered, .acceptFailed:
            "warning"
        case .failure: "error"
        }
    }

    var name: String {
        switch self {
        case .listening: "listening"
        case .adminListening: "admin-listening"
        case .connectionsLowered: "connections-lowered"
        case .acceptFailed: "accept-failed"
        case .request: "request"
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
        case .programOutdated: "program-outdated"
        case .migrationsApplied: "migrations-applied"
        // Never a line.
        case .eventsStored, .eventsRefused: "counted"
        case .eventPartitionsMade: "event-partitions-made"
        case .eventPartitionsFailed: "event-partitions-failed"
        case .stopping: "stopping"
        case .finishing: "finishing"
        case .cutOff: "cut-off"
        case .stopped: "stopped"
        case .logLinesDropped: "log-lines-dropped"
        }
    }

    var message: String {
        switch self {
        case .listening(let url): "serving \(url)"
        case .adminListening(let url): "serving health and metrics at \(url)"
        case .connectionsLowered(let wanted, let count, let descriptors):
            "at most \(count) connections instead of \(wanted): the process may open \(descriptors) files"
        case .acceptFailed(let reason): "a connection was not taken: \(reason)"
        case .request: "request"
        case .failure(let requestID, _, let reason): "request \(requestID) failed: \(reason)"
        case .databaseReachable(let database): "the database of \(database) answers"
        case .databaseUnreachable(let database, let reason):
            "the database of \(database) does not answer: \(reason)"
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
            "no reads go to \(server) while another answers: \(reason)"
        case .migrationsMissing(let versions):
            "migrations are missing, run poi migrate up: \(versions.joined(separator: ", "))"
        case .programOutdated(let names):
            "this version is too old for the schema, roll out a newer one: \(names.joined(separator: ", "))"
        case .migrationsApplied: "all migrations are applied"
        case .eventsStored, .eventsRefused: "counted"
        case .eventPartitionsMade(let names): "made partitions for events: \(names.joined(separator: ", "))"
        case .eventPartitionsFailed(let reason):
            "can't make partitions for events, run poi events maintain: \(reason)"
        case .stopping(let signal, let drainDelay):
            "\(signal): not ready any more, serving on for \(drainDelay.settingText)"
        case .finishing: "taking no new connection, finishing what is in flight"
        case .cutOff(let connections): "\(connections) connections were cut off: their time was over"
        case .stopped: "stopped"
        case .logLinesDropped(let count):
            "\(count) log lines were dropped: their reader was too slow, or they could not be written"
        }
    }

    /// Whether it is for metrics alone: as a line it would say again what the request's own line says.
    var isOnlyCounted: Bool {
        switch self {
        case .eventsStored, .eventsRefused: true
        default: false
        }
    }
}

/// What became of a batch of the app's events: numbers, and nothing that an event says.
public struct EventCounts: Hashable, Sendable {
    /// Events that were new.
    public let accepted: Int
    /// Events that were there before.
    public let duplicates: Int
    /// Events of both kinds whose name no definition has: a newer app's.
    public let unknownNames: Int

    /// Makes counts.
    public init(accepted: Int, duplicates: Int, unknownNames: Int) {
        self.accepted = accepted
        self.duplicates = duplicates
        self.unknownNames = unknownNames
    }
}

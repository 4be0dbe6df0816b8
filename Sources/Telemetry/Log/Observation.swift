import Program

/// The service's databases. Both may be the same one.
package enum DatabaseName: String, Sendable, Hashable, CaseIterable {
    case places
    case events
    /// What editors write.
    case edits
}

/// What happens in the service, for its log and its metrics.
///
/// Code records cases; the log and the metrics decide what they show of them.
package enum Observation: Sendable {
    case listening(url: String)
    case adminListening(url: String)
    /// There are fewer file descriptors than the configured connections need.
    case connectionsLowered(from: Int, to: Int, descriptors: Int)
    /// At most once a minute.
    case acceptFailed(reason: String)
    /// A request failed for a reason that only the log has. Of those that failed since a database is away, one a reason
    /// and minute is logged.
    case failure(requestID: String, traceID: String? = nil, reason: String, isUnavailability: Bool = false)
    /// `DATABASE_URL` isn't set, so libpq's defaults and the `PG*` variables say where the database is.
    case databaseByDefault(target: String)
    case databaseReachable(DatabaseName)
    case databaseUnreachable(DatabaseName, reason: String)
    /// `kind` is the reason in a form for programs.
    case databaseConnectFailed(DatabaseName, kind: String, reason: String)
    case databaseConnectionLost(DatabaseName, reason: String)
    case databaseNotice(DatabaseName, String)
    /// Where a standby is wanted: places are read from this server from now on.
    case placesReadFrom(server: String, isStandby: Bool)
    /// A standby lacks for too long what the primary has: places are read from the primary for a while.
    case standbyLeft(server: String)
    case migrationsMissing([String])
    case migrationsApplied
    /// For metrics.
    case eventsStored(EventCounts)
    /// For metrics.
    case eventsRefused
    case eventPartitionsMade([String])
    case eventPartitionsFailed(reason: String)
    /// The process was told to end: it isn't ready any more, and goes on serving for the drain delay.
    case stopping(signal: String, drainDelay: Duration)
    case finishing
    /// Their requests took too long.
    case cutOff(connections: Int)
    case stopped
    case logLinesDropped(Int)
    /// The file of those who may edit was read again.
    case editorsRead(count: Int)
    /// It can't be used, so that the same may edit as before.
    case editorsRefused(reason: String)
    case index(IndexObservation)
}

extension Observation {
    var level: String {
        switch self {
        case .listening, .adminListening, .databaseByDefault, .databaseReachable, .placesReadFrom,
            .migrationsApplied,
            .stopping, .finishing, .stopped, .eventsStored, .eventsRefused, .eventPartitionsMade,
            .databaseNotice, .editorsRead:
            "info"
        case .databaseUnreachable, .databaseConnectFailed, .databaseConnectionLost, .standbyLeft,
            .migrationsMissing, .logLinesDropped,
            .cutOff,
            .eventPartitionsFailed, .connectionsLowered, .acceptFailed, .editorsRefused:
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
        case .databaseByDefault: "database-by-default"
        case .databaseReachable: "database-reachable"
        case .databaseUnreachable: "database-unreachable"
        case .databaseConnectFailed: "database-connect-failed"
        case .databaseConnectionLost: "database-connection-lost"
        case .databaseNotice: "database-notice"
        case .placesReadFrom: "places-read-from"
        case .standbyLeft: "standby-left"
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
        case .editorsRead: "editors-read"
        case .editorsRefused: "editors-refused"
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
        case .failure(let requestID, _, let reason, _): "request \(requestID) failed: \(reason)"
        case .databaseByDefault(let target):
            "DATABASE_URL is not set: libpq's defaults and PG* variables lead to \(target)"
        case .databaseReachable(let database): "the database of \(database) can be reached"
        case .databaseUnreachable(let database, let reason):
            "the database of \(database) cannot be reached: \(reason)"
        case .databaseConnectFailed(let database, _, let reason):
            "can't connect to the database of \(database): \(reason)"
        case .databaseConnectionLost(let database, let reason):
            "a connection to the database of \(database) was lost: \(reason)"
        case .databaseNotice(let database, let notice): "the database of \(database) says: \(notice)"
        case .placesReadFrom(let server, let isStandby):
            "places are read from \(server), a \(isStandby ? "standby" : "primary")"
        case .standbyLeft(let server):
            "\(server) lacks for too long what the primary has: places are read from the primary for a while"
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
        case .editorsRead(let count): "read who may edit: \(count) keys"
        case .editorsRefused(let reason):
            "the file of editors can't be used, so the same may edit as before: \(reason)"
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
package struct EventCounts: Hashable, Sendable {
    package let accepted: Int
    package let duplicates: Int
    /// New events and duplicates whose name has no definition. They come from a newer app.
    package let unknownNames: Int

    package init(accepted: Int, duplicates: Int, unknownNames: Int) {
        self.accepted = accepted
        self.duplicates = duplicates
        self.unknownNames = unknownNames
    }
}

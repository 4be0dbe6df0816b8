import POIService
import Postgres

extension Setting where Value == String {
    /// Handed to libpq as it is; without it the standard `PG*` variables count.
    public static let databaseURL = text(
        "DATABASE_URL", "PostgreSQL, as a libpq URI; without it the PG* variables count", isSecret: true)
    /// Handed to libpq as it is, but for servers that are left out; without it places are read by `databaseURL`.
    static let readDatabaseURL = text(
        "POI_READ_DATABASE_URL",
        "where places are read, as a libpq URI with target_session_attrs=prefer-standby; else DATABASE_URL",
        isSecret: true)
}

extension Setting where Value == Int {
    static let fastConnections = integer(
        "POI_DB_FAST_CONNECTIONS", "pipelined connections a loop", in: 1...100, default: 3)
    static let exclusiveConnections = integer(
        "POI_DB_EXCLUSIVE_CONNECTIONS", "connections a loop for one search at a time", in: 1...100, default: 3
    )
    static let textConnections = integer(
        "POI_DB_TEXT_CONNECTIONS", "connections a loop for one search by text at a time", in: 1...100,
        default: 1)
}

extension Setting where Value == Duration {
    static let acquireTimeout = duration(
        "POI_DB_ACQUIRE_TIMEOUT", "how long a request waits for a connection",
        in: .milliseconds(1) ... .seconds(60), default: "1s")
    static let requestTimeout = duration(
        "POI_REQUEST_TIMEOUT", "how long a request for places may wait and read, then 504",
        in: .milliseconds(1) ... .seconds(600), default: "2s")
    static let statementTimeout = duration(
        "POI_DB_STATEMENT_TIMEOUT", "how long a statement may take", in: .milliseconds(1) ... .seconds(600),
        default: "2s")
}

extension Setting where Value == Duration {
    static let maxReplicaLag = duration(
        "POI_MAX_REPLICA_LAG", "how far a server for reads may be behind the primary",
        in: .seconds(1) ... .seconds(3600), default: "10s")
}

extension Setting where Value == PreparedStatementUse {
    static let preparedStatements = choice(
        "POI_DB_PREPARED", "whether statements stay prepared: auto (not behind a pooler), on, off",
        default: PreparedStatementUse.auto)
}

extension Setting where Value == ListenMode {
    static let listenMode = choice(
        "POI_DB_LISTEN", "how changes of the data are noticed: auto, on (LISTEN), off (asking)",
        default: ListenMode.auto)
}

import POIService

extension Setting where Value == String {
    /// Handed to libpq as it is; without it the standard `PG*` variables count.
    public static let databaseURL = text(
        "DATABASE_URL", "PostgreSQL, as a libpq URI; without it the PG* variables count", isSecret: true)
}

extension Setting where Value == Int {
    static let fastConnections = integer(
        "POI_DB_FAST_CONNECTIONS", "pipelined connections a loop", in: 1...100, default: 3)
    static let exclusiveConnections = integer(
        "POI_DB_EXCLUSIVE_CONNECTIONS", "connections a loop for one query at a time", in: 1...100, default: 4)
}

extension Setting where Value == Duration {
    static let acquireTimeout = duration(
        "POI_DB_ACQUIRE_TIMEOUT", "how long a request waits for a connection",
        in: .milliseconds(1) ... .seconds(60), default: "1s")
    static let statementTimeout = duration(
        "POI_DB_STATEMENT_TIMEOUT", "how long a query may take", in: .milliseconds(1) ... .seconds(600),
        default: "2s")
}

extension Setting where Value == ListenMode {
    static let listenMode = choice(
        "POI_DB_LISTEN", "how changes of the data are noticed: auto, on (LISTEN), off (asking)",
        default: ListenMode.auto)
}

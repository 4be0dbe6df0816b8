import POIService
import Postgres

/// How events are written: a few connections of their own, so that readers and writers don't wait for each other.
public struct EventDatabaseConfiguration: Sendable {
    /// How a connection is made.
    public var postgres: PostgresConfiguration
    /// Whether the settings name another address than the places' database's.
    public private(set) var isSeparate = false
    /// How many there are on each loop, and how long one waits for them.
    public var pool: PoolOptions

    /// Reads the settings.
    ///
    /// - Parameter database: where places are read, and events written unless the settings say otherwise.
    /// - Throws: the first setting that can't be used.
    public init(
        from reader: inout SettingsReader, database: DatabaseConfiguration
    ) throws(ConfigurationError) {
        let setting = Setting.eventsDatabaseURL
        postgres = database.postgres
        if let url = try reader.readIfPresent(setting) {
            postgres = try DatabaseConfiguration.postgres(url, of: setting.variable)
            isSeparate = true
        }
        pool = PoolOptions()
        pool.fastConnections = 0
        pool.exclusiveConnections = try reader.read(.eventsConnections)
        pool.acquireTimeout = database.pool.acquireTimeout
        pool.queryTimeout = try reader.read(.eventsStatementTimeout)
        promiseCommits()
    }

    /// Leads to another database, with the same settings.
    public mutating func use(connectionString: String) throws(ConfigurationError) {
        postgres = try DatabaseConfiguration.postgres(connectionString, of: Setting.databaseURL.variable)
        isSeparate = false
        promiseCommits()
    }

    /// An answer promises that what it counts is there for good, whatever the database is set to elsewhere.
    private mutating func promiseCommits() {
        postgres.statementTimeout = pool.queryTimeout
        postgres.settings.removeAll { $0.name == "synchronous_commit" }
        postgres.settings.append(PostgresConfiguration.Setting("synchronous_commit", "on"))
    }
}

extension Setting where Value == String {
    static let eventsDatabaseURL = text(
        "POI_EVENTS_DATABASE_URL", "where events are written; without it DATABASE_URL", isSecret: true)
}

extension Setting where Value == Int {
    static let eventsConnections = integer(
        "POI_EVENTS_CONNECTIONS", "connections a loop that write events", in: 1...100, default: 1)
}

extension Setting where Value == Duration {
    static let eventsStatementTimeout = duration(
        "POI_EVENTS_STATEMENT_TIMEOUT", "how long writing events may take",
        in: .milliseconds(1) ... .seconds(600), default: "10s")
}

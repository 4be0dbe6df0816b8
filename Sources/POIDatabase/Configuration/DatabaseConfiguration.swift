import POIService
import Postgres

/// The settings of the places' database, validated.
public struct DatabaseConfiguration: Sendable {
    /// How to connect, to the primary where there are several servers.
    public var postgres: PostgresConfiguration
    /// How to connect to read places, where that is another address.
    public var reads: PostgresConfiguration?
    /// How far a server may be behind the primary and still be read from.
    public var maxReplicaLag: Duration
    /// How many connections each loop has, and how long a query waits for one.
    public var pool: PoolOptions
    /// How long a request may wait and read, all of its statements together.
    public var requestTimeout: Duration
    /// How a change of the data is noticed.
    public var listenMode: ListenMode
    /// The index of places in memory.
    public var index: IndexConfiguration

    /// Reads the settings.
    ///
    /// - Throws: the first setting that can't be used.
    public init(from reader: inout SettingsReader) throws(ConfigurationError) {
        postgres = try Self.postgres(try reader.readIfPresent(.databaseURL), of: Setting.databaseURL.variable)
        if let conninfo = try reader.readIfPresent(.readDatabaseURL) {
            reads = try Self.postgres(conninfo, of: Setting.readDatabaseURL.variable)
        }
        maxReplicaLag = try reader.read(.maxReplicaLag)
        let preparedStatements = try reader.read(.preparedStatements)
        listenMode = try reader.read(.listenMode)
        index = try IndexConfiguration(from: &reader)
        pool = PoolOptions()
        pool.fastConnections = try reader.read(.fastConnections)
        pool.exclusiveConnections = try reader.read(.exclusiveConnections)
        requestTimeout = try reader.read(.requestTimeout)
        pool.acquireTimeout = min(try reader.read(.acquireTimeout), requestTimeout)
        pool.queryTimeout = try reader.read(.statementTimeout)
        postgres.statementTimeout = pool.queryTimeout
        postgres.preparedStatements = preparedStatements
        reads?.statementTimeout = pool.queryTimeout
        reads?.preparedStatements = preparedStatements
    }

    /// Leads to another database, for reads too, with the same settings.
    ///
    /// - Throws: `ConfigurationError` for a connection string that libpq can't read.
    public mutating func use(connectionString: String) throws(ConfigurationError) {
        let old = postgres
        postgres = try Self.postgres(connectionString, of: Setting.databaseURL.variable)
        postgres.statementTimeout = old.statementTimeout
        postgres.preparedStatements = old.preparedStatements
        reads = nil
    }

    /// What the connection string of a setting leads to.
    static func postgres(
        _ conninfo: String?, of variable: String
    ) throws(ConfigurationError) -> PostgresConfiguration {
        do throws(PostgresError) {
            return try PostgresConfiguration(conninfo: conninfo)
        } catch {
            // The text may hold a password.
            throw ConfigurationError(
                "\(variable): expected a connection string or URI of libpq, a password in which is percent-encoded "
                    + "(@ as %40, / as %2F)")
        }
    }
}

/// How a process learns that the data have changed.
public enum ListenMode: String, Sendable, CaseIterable {
    /// By LISTEN where that is seen to work, else by reading every second.
    case auto
    /// By LISTEN only: where it doesn't work, the dataset isn't known.
    case on
    /// By reading every second.
    case off
}

/// How events are written: by connections of their own, so that readers and writers don't wait for each other.
public struct EventDatabaseConfiguration: Sendable {
    /// How to connect.
    public var postgres: PostgresConfiguration
    /// Whether the settings name another address than the places' database's.
    public private(set) var isSeparate = false
    /// How many connections each loop has, and how long a write waits for one.
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
        makeCommitsDurable()
    }

    /// Leads to another database, with the same settings.
    ///
    /// - Throws: `ConfigurationError` for a connection string that libpq can't read.
    public mutating func use(connectionString: String) throws(ConfigurationError) {
        postgres = try DatabaseConfiguration.postgres(connectionString, of: Setting.databaseURL.variable)
        isSeparate = false
        makeCommitsDurable()
    }

    /// A response promises that the events it counts are stored durably, whatever the database's default is.
    private mutating func makeCommitsDurable() {
        postgres.statementTimeout = pool.queryTimeout
        postgres.settings.removeAll { $0.name == "synchronous_commit" }
        postgres.settings.append(PostgresConfiguration.Setting("synchronous_commit", "on"))
    }
}

// MARK: - Settings

extension Setting where Value == String {
    /// Handed to libpq as it is; without it the standard `PG*` variables count.
    public static let databaseURL = text(
        "DATABASE_URL", "PostgreSQL, as a libpq URI; without it the PG* variables count", isSecret: true)
    /// Handed to libpq as it is, but for servers that are left out; without it places are read by `databaseURL`.
    static let readDatabaseURL = text(
        "POI_READ_DATABASE_URL",
        "where places are read, as a libpq URI with target_session_attrs=prefer-standby; else DATABASE_URL",
        isSecret: true)
    static let eventsDatabaseURL = text(
        "POI_EVENTS_DATABASE_URL", "where events are written; without it DATABASE_URL", isSecret: true)
}

extension Setting where Value == Int {
    static let fastConnections = integer(
        "POI_DB_FAST_CONNECTIONS", "pipelined connections a loop", in: 1...100, default: 3)
    static let exclusiveConnections = integer(
        "POI_DB_EXCLUSIVE_CONNECTIONS", "connections a loop for one search at a time", in: 1...100, default: 3
    )
    static let eventsConnections = integer(
        "POI_EVENTS_CONNECTIONS", "connections a loop that write events", in: 1...100, default: 1)
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
    static let maxReplicaLag = duration(
        "POI_MAX_REPLICA_LAG", "how far a server for reads may be behind the primary",
        in: .seconds(1) ... .seconds(3600), default: "10s")
    static let eventsStatementTimeout = duration(
        "POI_EVENTS_STATEMENT_TIMEOUT", "how long writing events may take",
        in: .milliseconds(1) ... .seconds(600), default: "10s")
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

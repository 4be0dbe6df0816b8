import Postgres
import Program

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
        postgres = try Self.postgres(try reader.readIfPresent(.databaseURL), of: .databaseURL)
        if let conninfo = try reader.readIfPresent(.readDatabaseURL) {
            reads = try Self.postgres(conninfo, of: .readDatabaseURL)
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
        postgres = try Self.postgres(connectionString, of: .databaseURL)
        postgres.statementTimeout = old.statementTimeout
        postgres.preparedStatements = old.preparedStatements
        reads = nil
    }

    /// What the connection string of a setting leads to.
    static func postgres(
        _ conninfo: String?, of name: SettingName
    ) throws(ConfigurationError) -> PostgresConfiguration {
        do throws(PostgresError) {
            return try PostgresConfiguration(conninfo: conninfo)
        } catch {
            // The text may hold a password.
            throw ConfigurationError(
                "\(name): expected a connection string or URI of libpq, a password in which is percent-encoded "
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
            postgres = try DatabaseConfiguration.postgres(url, of: setting.name)
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
        postgres = try DatabaseConfiguration.postgres(connectionString, of: .databaseURL)
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
    /// Passed to libpq as it is; without it the standard `PG*` variables apply.
    public static let databaseURL = text(
        .databaseURL, "PostgreSQL, as a libpq URI; without it the PG* variables count", isSecret: true)
    /// Passed to libpq as it is, except that servers may be left out; without it places are read through `databaseURL`.
    static let readDatabaseURL = text(
        .readDatabaseURL,
        "where places are read, as a libpq URI with target_session_attrs=prefer-standby; else DATABASE_URL",
        isSecret: true)
    static let eventsDatabaseURL = text(
        .eventsDatabaseURL, "where events are written; without it DATABASE_URL", isSecret: true)
}

extension Setting where Value == Int {
    static let fastConnections = integer(
        .dbFastConnections, "pipelined connections a loop", in: 1...100, default: 3)
    static let exclusiveConnections = integer(
        .dbExclusiveConnections, "connections a loop for one search at a time", in: 1...100, default: 3
    )
    static let eventsConnections = integer(
        .eventsConnections, "connections a loop that write events", in: 1...100, default: 1)
}

extension Setting where Value == Duration {
    static let acquireTimeout = duration(
        .dbAcquireTimeout, "how long a request waits for a connection",
        in: .milliseconds(1) ... .seconds(60), default: "1s")
    static let requestTimeout = duration(
        .requestTimeout, "how long a request for places may wait and read, then 504",
        in: .milliseconds(1) ... .seconds(600), default: "2s")
    static let statementTimeout = duration(
        .dbStatementTimeout, "how long a statement may take", in: .milliseconds(1) ... .seconds(600),
        default: "2s")
    static let maxReplicaLag = duration(
        .maxReplicaLag, "how far a server for reads may be behind the primary",
        in: .seconds(1) ... .seconds(3600), default: "10s")
    static let eventsStatementTimeout = duration(
        .eventsStatementTimeout, "how long writing events may take",
        in: .milliseconds(1) ... .seconds(600), default: "10s")
}

extension Setting where Value == PreparedStatementUse {
    static let preparedStatements = choice(
        .dbPrepared, "whether statements stay prepared: auto (not behind a pooler), on, off",
        default: PreparedStatementUse.auto)
}

extension Setting where Value == ListenMode {
    static let listenMode = choice(
        .dbListen, "how changes of the data are noticed: auto, on (LISTEN), off (asking)",
        default: ListenMode.auto)
}

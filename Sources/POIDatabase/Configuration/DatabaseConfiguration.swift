import Postgres
import Program

/// The settings of the places' database, validated.
package struct DatabaseConfiguration: Sendable {
    /// How to connect, to the primary where there are several servers.
    package var postgres: PostgresConfiguration
    /// How to connect to a server that changes are followed at, where that is another one: a standby, or several hosts of which
    /// libpq prefers one.
    package var reads: PostgresConfiguration?
    /// For how long a standby may lack what the primary has before the primary is followed.
    package var maxReplicaLag: Duration
    /// Without an index: how many connections each loop has, and how long a query waits for one.
    package var pool: PoolOptions
    /// How long a request may wait and read, all of its statements together.
    package var requestTimeout: Duration
    /// The index of places in memory.
    package var index: IndexConfiguration

    /// Reads the settings.
    package init(from reader: inout SettingsReader) throws(ConfigurationError) {
        postgres = try Self.postgres(try reader.readIfPresent(.databaseURL), of: .databaseURL)
        if let conninfo = try reader.readIfPresent(.readDatabaseURL) {
            reads = try Self.postgres(conninfo, of: .readDatabaseURL)
        }
        maxReplicaLag = try reader.read(.maxReplicaLag)
        let preparedStatements = try reader.read(.preparedStatements)
        index = try IndexConfiguration(from: &reader)
        pool = PoolOptions()
        pool.connections = try reader.read(.connections)
        requestTimeout = try reader.read(.requestTimeout)
        pool.acquireTimeout = min(try reader.read(.acquireTimeout), requestTimeout)
        pool.queryTimeout = try reader.read(.statementTimeout)
        postgres.statementTimeout = pool.queryTimeout
        postgres.preparedStatements = preparedStatements
        reads?.statementTimeout = pool.queryTimeout
        reads?.preparedStatements = preparedStatements
    }

    /// Leads to another database, for reads too, with the same settings.
    package mutating func use(connectionString: String) throws(ConfigurationError) {
        let old = postgres
        postgres = try Self.postgres(connectionString, of: .databaseURL)
        postgres.statementTimeout = old.statementTimeout
        postgres.preparedStatements = old.preparedStatements
        reads = nil
    }

    static func postgres(
        _ conninfo: String?, of name: SettingName
    ) throws(ConfigurationError) -> PostgresConfiguration {
        do throws(PostgresError) {
            return try PostgresConfiguration(conninfo: conninfo)
        } catch {
            // The text may hold a password; the message quotes nothing of it.
            throw ConfigurationError("\(name): \(error.clientMessage ?? "\(error)")")
        }
    }
}

/// How events are written: by connections of their own, so that readers and writers don't wait for each other.
package struct EventDatabaseConfiguration: Sendable {
    /// How to connect.
    package var postgres: PostgresConfiguration
    /// Whether the settings name another address than the places' database's.
    package private(set) var isSeparate = false
    /// How many connections each loop has, and how long a write waits for one.
    package var pool: PoolOptions

    /// Reads the settings.
    ///
    /// - Parameter database: where places are read, and events written unless the settings say otherwise.
    package init(
        from reader: inout SettingsReader, database: DatabaseConfiguration
    ) throws(ConfigurationError) {
        let setting = Setting.eventsDatabaseURL
        postgres = database.postgres
        if let url = try reader.readIfPresent(setting) {
            postgres = try DatabaseConfiguration.postgres(url, of: setting.name)
            isSeparate = true
        }
        pool = PoolOptions()
        pool.connections = try reader.read(.eventsConnections)
        pool.acquireTimeout = database.pool.acquireTimeout
        pool.queryTimeout = try reader.read(.eventsStatementTimeout)
        postgres.makeCommitsDurable(within: pool.queryTimeout)
    }

    /// Leads to another database, with the same settings.
    package mutating func use(connectionString: String) throws(ConfigurationError) {
        postgres = try DatabaseConfiguration.postgres(connectionString, of: .databaseURL)
        isSeparate = false
        postgres.makeCommitsDurable(within: pool.queryTimeout)
    }
}

extension PostgresConfiguration {
    /// A response promises that what it acknowledges is stored durably, whatever the database's default is.
    mutating func makeCommitsDurable(within timeout: Duration?) {
        statementTimeout = timeout
        settings.removeAll { $0.name == "synchronous_commit" }
        settings.append(Setting("synchronous_commit", "on"))
    }
}

// MARK: - Settings

extension Setting where Value == String {
    /// Passed to libpq as it is; without it the standard `PG*` variables apply.
    package static let databaseURL = text(
        .databaseURL, "PostgreSQL, as a libpq URI; without it the PG* variables count", isSecret: true)
    /// Passed to libpq as it is; without it places are read through `databaseURL`.
    static let readDatabaseURL = text(
        .readDatabaseURL,
        "where places are read, as a libpq URI of several hosts with target_session_attrs=prefer-standby; else DATABASE_URL",
        isSecret: true)
    static let eventsDatabaseURL = text(
        .eventsDatabaseURL, "where events are written; without it DATABASE_URL", isSecret: true)
}

extension Setting where Value == Int {
    static let connections = integer(
        .dbConnections, "connections a loop that read places, if POI_INDEX is off", in: 1...100, default: 4)
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
        .maxReplicaLag,
        "how long a standby may lack what the primary has before places are read from the primary",
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

extension DatabaseConfiguration {
    /// The session of a command, which may take as long as it needs, also for locks that others hold.
    var postgresWithoutTimeout: PostgresConfiguration {
        var configuration = postgres
        configuration.statementTimeout = nil
        return configuration
    }
}

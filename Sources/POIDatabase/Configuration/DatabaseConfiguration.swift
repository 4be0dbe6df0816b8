import POIService
import Postgres

/// The settings of the database's side, validated.
public struct DatabaseConfiguration: Sendable {
    /// How a connection is made, to the primary where there are several servers.
    public var postgres: PostgresConfiguration
    /// How a connection is made to read places, where that is another address.
    public var reads: PostgresConfiguration?
    /// How far a server may be behind the primary and still be read from.
    public var maxReplicaLag: Duration
    /// How many there are on each loop, and how long one waits for them.
    public var pool: PoolOptions
    /// How long a request may wait and read, all of its statements together.
    public var requestTimeout: Duration
    /// After how many seconds the table's order is looked at again, see `SpatialOrder`; nil for tests that lock the table.
    var orderInterval: Int? = 60
    /// How a change of the data is noticed.
    public var listenMode: ListenMode

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
        pool = PoolOptions()
        pool.fastConnections = try reader.read(.fastConnections)
        pool.exclusiveConnections = try reader.read(.exclusiveConnections)
        pool.textConnections = try reader.read(.textConnections)
        requestTimeout = try reader.read(.requestTimeout)
        pool.acquireTimeout = min(try reader.read(.acquireTimeout), requestTimeout)
        pool.queryTimeout = try reader.read(.statementTimeout)
        postgres.statementTimeout = pool.queryTimeout
        postgres.preparedStatements = preparedStatements
        reads?.statementTimeout = pool.queryTimeout
        reads?.preparedStatements = preparedStatements
    }

    /// Leads to another database, for reads too, with the same settings.
    public mutating func use(connectionString: String) throws(ConfigurationError) {
        let old = postgres
        postgres = try Self.postgres(connectionString, of: Setting.databaseURL.variable)
        postgres.statementTimeout = old.statementTimeout
        postgres.preparedStatements = old.preparedStatements
        reads = nil
    }

    /// What a setting's text leads to.
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

/// Where the database is and how its sessions are set up.
///
/// Its description holds neither the password nor anything else that libpq calls secret.
public struct PostgresConfiguration: Sendable {
    /// A setting of the session: a name and its value, as in `SET name = value`.
    public struct Setting: Sendable, Hashable {
        /// The parameter's name, for example `statement_timeout`.
        public var name: String
        /// Its value in PostgreSQL's own notation, for example `2s`.
        public var value: String

        /// A setting by its name and value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The conninfo string or URI, handed to libpq as it is; nil leaves everything to the `PG*` variables.
    public let conninfo: String?
    /// Seconds per host, at least 2 (libpq rounds up); the conninfo and `PGCONNECT_TIMEOUT` override it.
    public var connectTimeoutSeconds = 5
    /// The name in `pg_stat_activity`, unless the conninfo or `PGAPPNAME` says another.
    public var applicationName = "points-of-interest"
    /// The session's settings. Options in the conninfo or in `PGOPTIONS` override them; those of a service
    /// file don't.
    public var settings: [Setting] = [
        Setting("jit", "off"),
        Setting("max_parallel_workers_per_gather", "0"),
    ]
    /// After which time the server itself ends a statement; nil leaves it to the server's configuration.
    public var statementTimeout: Duration? = .seconds(2)
    /// Whether settings are sent as the start-up parameter `options`. A pooler that refuses it is asked again
    /// without: there, set them by `ALTER ROLE … SET`.
    public var sendsSettings = true
    /// Whether statements are kept on the server.
    public var preparedStatements = PreparedStatementUse.auto
    /// What goes before the conninfo's own keywords.
    var overrides: [(keyword: String, value: String)] = []
    /// How long past its deadline a query may keep its connection, before that is closed.
    public var overrunGrace: Duration = .seconds(5)

    /// Checks the conninfo's syntax, not whether anybody answers there.
    ///
    /// Throws ``PostgresError/Code/invalidConfiguration``, which quotes nothing: libpq's own message might
    /// hold a part of the password.
    public init(conninfo: String? = nil) throws(PostgresError) {
        self.conninfo = conninfo.flatMap { $0.isEmpty ? nil : $0 }
        if let conninfo = self.conninfo {
            guard ConnectionOptions(parsing: conninfo) != nil else {
                throw PostgresError(
                    .invalidConfiguration, clientMessage: "not a libpq connection string or URI")
            }
        }
    }
}

extension PostgresConfiguration: CustomStringConvertible, CustomReflectable {
    /// The target without secrets: `host=… dbname=…`.
    public var description: String {
        let options = conninfo.flatMap { ConnectionOptions(parsing: $0) }
        let shown = (options?.shown ?? []).map { "\($0.keyword)=\($0.value)" }
        return "PostgreSQL(\(shown.isEmpty ? "PG* variables" : shown.joined(separator: " ")))"
    }

    /// Hides the conninfo from `dump` too.
    public var customMirror: Mirror {
        Mirror(self, children: ["target": description])
    }
}

import PointsOfInterestServerAPI

/// The settings of all our programs, by the names of their environment variables. They are in one list, since several
/// programs often share an environment.
public enum SettingName: String, CaseIterable, CustomStringConvertible, Sendable {
    case databaseURL = "DATABASE_URL"
    case host = "HOST"
    case port = "PORT"
    case accessLog = "POI_ACCESS_LOG"
    case adminHost = "POI_ADMIN_HOST"
    case adminPort = "POI_ADMIN_PORT"
    case apiKeys = "POI_API_KEYS"
    case cachePrivateMaxAge = "POI_CACHE_PRIVATE_MAX_AGE"
    case cachePublicMaxAge = "POI_CACHE_PUBLIC_MAX_AGE"
    case corsOrigins = "POI_CORS_ORIGINS"
    case dbAcquireTimeout = "POI_DB_ACQUIRE_TIMEOUT"
    case dbExclusiveConnections = "POI_DB_EXCLUSIVE_CONNECTIONS"
    case dbFastConnections = "POI_DB_FAST_CONNECTIONS"
    case dbListen = "POI_DB_LISTEN"
    case dbPrepared = "POI_DB_PREPARED"
    case dbStatementTimeout = "POI_DB_STATEMENT_TIMEOUT"
    case drainDelay = "POI_DRAIN_DELAY"
    case eventsConnections = "POI_EVENTS_CONNECTIONS"
    case eventsDatabaseURL = "POI_EVENTS_DATABASE_URL"
    case eventsDir = "POI_EVENTS_DIR"
    case eventsHashKey = "POI_EVENTS_HASH_KEY"
    case eventsHashKeyFile = "POI_EVENTS_HASH_KEY_FILE"
    case eventsKeys = "POI_EVENTS_KEYS"
    case eventsRetention = "POI_EVENTS_RETENTION"
    case eventsStatementTimeout = "POI_EVENTS_STATEMENT_TIMEOUT"
    case fixtures = "POI_FIXTURES"
    case ignoredParameters = "POI_IGNORED_PARAMETERS"
    case index = "POI_INDEX"
    case indexMaxMemory = "POI_INDEX_MAX_MEMORY"
    case indexMaxStaleness = "POI_INDEX_MAX_STALENESS"
    case leafletDirectory = "POI_LEAFLET_DIRECTORY"
    case logClient = "POI_LOG_CLIENT"
    case logCoordinates = "POI_LOG_COORDINATES"
    case logFormat = "POI_LOG_FORMAT"
    case loops = "POI_LOOPS"
    case maxBodyBytes = "POI_MAX_BODY_BYTES"
    case maxConnections = "POI_MAX_CONNECTIONS"
    case maxConnectionsPerClient = "POI_MAX_CONNECTIONS_PER_CLIENT"
    case maxInFlight = "POI_MAX_IN_FLIGHT"
    case maxReplicaLag = "POI_MAX_REPLICA_LAG"
    case maxSessions = "POI_MAX_SESSIONS"
    case migrationsDir = "POI_MIGRATIONS_DIR"
    case postgresPrograms = "POI_POSTGRES_BIN"
    case rateBurst = "POI_RATE_BURST"
    case rateLimit = "POI_RATE_LIMIT"
    case readyRequiresDatabase = "POI_READY_REQUIRES_DATABASE"
    case readDatabaseURL = "POI_READ_DATABASE_URL"
    case requestTimeout = "POI_REQUEST_TIMEOUT"
    case scenario = "POI_SCENARIO"
    case seeds = "POI_SEEDS"
    case shutdownTimeout = "POI_SHUTDOWN_TIMEOUT"
    case stateDir = "POI_STATE_DIR"
    case tilesAttribution = "POI_TILES_ATTRIBUTION"
    case tilesURL = "POI_TILES_URL"
    case trustedProxies = "POI_TRUSTED_PROXIES"

    /// The name in the environment.
    public var description: String { rawValue }

    /// The name on the command line: `POI_LOOPS` is `--loops`, `DATABASE_URL` is `--database-url`.
    public var flag: String {
        let name = rawValue.hasPrefix(Self.prefix) ? rawValue.dropFirst(Self.prefix.count) : rawValue[...]
        return "--" + name.lowercased().replacing("_", with: "-")
    }

    private static let prefix = "POI_"
    /// A name with more typos than this counts as another name.
    private static let maximumTypoCount = 3

    /// Refuses a variable whose name is the name of a setting with a typo: nothing would read it.
    ///
    /// A name that doesn't resemble the name of a setting is ignored. It belongs to another program (a balancer, or
    /// Kubernetes for a Service `poi`), or it is a setting of a newer release, and an older program has to start with
    /// that too. An empty variable counts as absent, see `SettingsReader`.
    ///
    /// - Throws: `ConfigurationError` for the first such variable, by name.
    package static func refuseMisspelt(in environment: [String: String]) throws(ConfigurationError) {
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) where !value.isEmpty {
            guard let meant = nearest(to: name) else { continue }
            throw ConfigurationError("\(name) is not known; did you mean \(meant)?")
        }
    }

    /// The setting that a misspelt name resembles most; nil for a setting's own name, and if it resembles none.
    ///
    /// It allows one typo in three letters. So it doesn't take `POI_TOOLS` for `POI_LOOPS`, or the balancer's
    /// `POI_LISTEN` for `POI_DB_LISTEN`.
    static func nearest(to name: String) -> String? {
        guard name.hasPrefix(prefix), SettingName(rawValue: name) == nil,
            let mistaken = EditDistance(from: own(name))
        else { return nil }
        var nearest: (name: String, typos: Int)?
        for known in allCases.map(\.rawValue) where known.hasPrefix(prefix) {
            let typos = mistaken.distance(to: own(known))
            let tolerance = min(maximumTypoCount, min(own(known).count, mistaken.text.count) / 3)
            if typos <= tolerance, typos < nearest?.typos ?? .max { nearest = (known, typos) }
        }
        return nearest?.name
    }

    /// The option that a misspelt one resembles most; nil if it resembles none.
    static func nearest(to option: String, among known: Set<String>) -> String? {
        guard let mistaken = EditDistance(from: Array(option.utf8.dropFirst(2))) else { return nil }
        var nearest: (option: String, typos: Int)?
        for option in known.sorted() {
            let name = Array(option.utf8.dropFirst(2))
            let typos = mistaken.distance(to: name)
            let tolerance = min(maximumTypoCount, max(1, min(name.count, mistaken.text.count) / 3))
            if typos <= tolerance, typos < nearest?.typos ?? .max { nearest = (option, typos) }
        }
        return nearest?.option
    }

    /// A name without the prefix.
    private static func own(_ name: String) -> [UInt8] { Array(name.utf8.dropFirst(prefix.utf8.count)) }
}

import PointsOfInterestServerAPI

/// The settings of all our programs, by the names of their environment variables. They are in one list, since several
/// programs often share an environment.
package enum SettingName: String, CaseIterable, CustomStringConvertible, Sendable {
    case databaseURL = "DATABASE_URL"
    case databaseURLFile = "DATABASE_URL_FILE"
    case host = "HOST"
    case port = "PORT"
    case accessLog = "POI_ACCESS_LOG"
    case adminHost = "POI_ADMIN_HOST"
    case adminPort = "POI_ADMIN_PORT"
    case apiKeys = "POI_API_KEYS"
    case apiKeysFile = "POI_API_KEYS_FILE"
    case cachePrivateMaxAge = "POI_CACHE_PRIVATE_MAX_AGE"
    case cachePublicMaxAge = "POI_CACHE_PUBLIC_MAX_AGE"
    case corsOrigins = "POI_CORS_ORIGINS"
    case dbAcquireTimeout = "POI_DB_ACQUIRE_TIMEOUT"
    case dbConnections = "POI_DB_CONNECTIONS"
    case dbPrepared = "POI_DB_PREPARED"
    case dbStatementTimeout = "POI_DB_STATEMENT_TIMEOUT"
    case digestMaxPlaces = "POI_DIGEST_MAX_PLACES"
    case drainDelay = "POI_DRAIN_DELAY"
    case editDatabaseURL = "POI_EDIT_DATABASE_URL"
    case editDatabaseURLFile = "POI_EDIT_DATABASE_URL_FILE"
    case editorHeader = "POI_EDITOR_HEADER"
    case editorOrigins = "POI_EDITOR_ORIGINS"
    case editorRateLimit = "POI_EDITOR_RATE_LIMIT"
    case editorialLicense = "POI_EDITORIAL_LICENSE"
    case editorsFile = "POI_EDITORS_FILE"
    case eventsConnections = "POI_EVENTS_CONNECTIONS"
    case eventsDatabaseURL = "POI_EVENTS_DATABASE_URL"
    case eventsDatabaseURLFile = "POI_EVENTS_DATABASE_URL_FILE"
    case eventsDir = "POI_EVENTS_DIR"
    case eventsHashKey = "POI_EVENTS_HASH_KEY"
    case eventsHashKeyFile = "POI_EVENTS_HASH_KEY_FILE"
    case eventsKeys = "POI_EVENTS_KEYS"
    case eventsKeysFile = "POI_EVENTS_KEYS_FILE"
    case eventsRetention = "POI_EVENTS_RETENTION"
    case eventsStatementTimeout = "POI_EVENTS_STATEMENT_TIMEOUT"
    case fixtures = "POI_FIXTURES"
    case historyRetention = "POI_HISTORY_RETENTION"
    case ignoredParameters = "POI_IGNORED_PARAMETERS"
    case index = "POI_INDEX"
    case indexDir = "POI_INDEX_DIR"
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
    case pageColor = "POI_PAGE_COLOR"
    case pageImageHosts = "POI_PAGE_IMAGE_HOSTS"
    case pageLogo = "POI_PAGE_LOGO"
    case pageStart = "POI_PAGE_START"
    case pageTitle = "POI_PAGE_TITLE"
    case postgresPrograms = "POI_POSTGRES_BIN"
    case rateBurst = "POI_RATE_BURST"
    case rateLimit = "POI_RATE_LIMIT"
    case readyRequiresDatabase = "POI_READY_REQUIRES_DATABASE"
    case readDatabaseURL = "POI_READ_DATABASE_URL"
    case readDatabaseURLFile = "POI_READ_DATABASE_URL_FILE"
    case reports = "POI_REPORTS"
    case reportsRetention = "POI_REPORTS_RETENTION"
    case requestTimeout = "POI_REQUEST_TIMEOUT"
    case scenario = "POI_SCENARIO"
    case seeds = "POI_SEEDS"
    case shutdownTimeout = "POI_SHUTDOWN_TIMEOUT"
    case socketGroup = "POI_SOCKET_GROUP"
    case socketMode = "POI_SOCKET_MODE"
    case source = "POI_SOURCE"
    case sourceFile = "POI_SOURCE_FILE"
    case stateDir = "POI_STATE_DIR"
    case tilesAttribution = "POI_TILES_ATTRIBUTION"
    case tilesDarkURL = "POI_TILES_DARK_URL"
    case tilesMaxZoom = "POI_TILES_MAX_ZOOM"
    case tilesURL = "POI_TILES_URL"
    case trustedProxies = "POI_TRUSTED_PROXIES"

    package var description: String { rawValue }

    /// `POI_LOOPS` is `--loops`, `DATABASE_URL` is `--database-url`.
    package var flag: String { Self.flag(of: rawValue) }

    private static func flag(of name: String) -> String {
        "--" + String(decoding: own(name), as: UTF8.self).lowercased().replacing("_", with: "-")
    }

    /// The setting that names a file with the value of this one; nil where it is no secret.
    package var file: SettingName? { SettingName(rawValue: rawValue + "_FILE") }

    private static let prefix = "POI_"
    /// A name with more typos than this counts as another name.
    private static let maximumTypoCount = 3
    /// Settings that there were, and what became of each.
    private static let removed = [
        "POI_DB_EXCLUSIVE_CONNECTIONS": "POI_DB_CONNECTIONS is for all, and counts with POI_INDEX=off alone",
        "POI_DB_FAST_CONNECTIONS": "POI_DB_CONNECTIONS is for all, and counts with POI_INDEX=off alone",
        "POI_DB_LISTEN": "servers listen where that works, and ask every second",
        "POI_DB_TEXT_CONNECTIONS": "there are no searches by text without an index",
    ]

    /// Refuses a variable that nothing would read though it looks like a setting: its name is that of a setting with a
    /// typo, with `POI_` before it, or that of a setting that was removed.
    ///
    /// A name that doesn't resemble the name of a setting is ignored. It belongs to another program (a balancer, or
    /// Kubernetes for a Service `poi`), or it is a setting of a newer release, and an older program has to start with
    /// that too. So is an address that Kubernetes sets. An empty variable counts as absent, see `SettingsReader`.
    package static func refuseMisspelt(in environment: [String: String]) throws(ConfigurationError) {
        for (name, value) in environment.sorted(by: { $0.key < $1.key })
        where !value.isEmpty && !isServiceAddress(value) {
            if let fate = removed[name] { throw ConfigurationError("\(name) was removed: \(fate)") }
            guard let meant = nearest(to: name) else { continue }
            throw ConfigurationError("\(name) is not known; did you mean \(meant)?")
        }
    }

    /// Whether Kubernetes sets a variable to this for a Service: `POI_PORT` becomes `tcp://10.0.0.1:8080` for a Service
    /// `poi` (Kubernetes, "Service", "Environment variables").
    private static func isServiceAddress(_ value: String) -> Bool {
        ["tcp://", "udp://", "sctp://"].contains { value.hasPrefix($0) }
    }

    static func fate(ofRemoved option: String) -> String? {
        removed.first { flag(of: $0.key) == option }?.value
    }

    /// Nil for a setting's own name, and if the name resembles none.
    ///
    /// It allows one typo in three letters. So it doesn't take `POI_TOOLS` for `POI_LOOPS`, or the balancer's
    /// `POI_READY` for a setting of ours.
    static func nearest(to name: String) -> String? {
        // What some frameworks call it; any other name without the prefix is another program's.
        if name == "DATABASE_URI" { return databaseURL.rawValue }
        guard name.hasPrefix(prefix), SettingName(rawValue: name) == nil,
            let mistaken = EditDistance(from: own(name))
        else { return nil }
        var nearest: (name: String, typos: Int)?
        for known in allCases.map(\.rawValue) {
            let typos = mistaken.distance(to: own(known))
            let tolerance = min(maximumTypoCount, min(own(known).count, mistaken.text.count) / 3)
            if typos <= tolerance, typos < nearest?.typos ?? .max { nearest = (known, typos) }
        }
        return nearest?.name
    }

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

    private static func own(_ name: String) -> [UInt8] {
        Array(name.utf8.dropFirst(name.hasPrefix(prefix) ? prefix.utf8.count : 0))
    }
}

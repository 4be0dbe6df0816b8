import PointsOfInterestAPI

/// The variables that any of our programs reads: several programs often share an environment.
package enum KnownVariables {
    /// The names of all settings that begin with `POI_`. scripts/checks/check-settings compares the list with the sources.
    static let all = [
        "POI_ACCESS_LOG", "POI_ADMIN_HOST", "POI_ADMIN_PORT", "POI_API_KEYS", "POI_CACHE_PRIVATE_MAX_AGE",
        "POI_CACHE_PUBLIC_MAX_AGE", "POI_CORS_ORIGINS", "POI_DB_ACQUIRE_TIMEOUT",
        "POI_DB_EXCLUSIVE_CONNECTIONS", "POI_DB_FAST_CONNECTIONS", "POI_DB_LISTEN", "POI_DB_PREPARED",
        "POI_DB_STATEMENT_TIMEOUT", "POI_DRAIN_DELAY",
        "POI_EVENTS_CONNECTIONS", "POI_EVENTS_DATABASE_URL",
        "POI_EVENTS_DIR", "POI_EVENTS_HASH_KEY", "POI_EVENTS_HASH_KEY_FILE", "POI_EVENTS_KEYS",
        "POI_EVENTS_RETENTION", "POI_EVENTS_STATEMENT_TIMEOUT", "POI_FIXTURES", "POI_IGNORED_PARAMETERS",
        "POI_INDEX", "POI_INDEX_MAX_MEMORY", "POI_INDEX_MAX_STALENESS", "POI_LEAFLET_DIRECTORY",
        "POI_LOG_CLIENT", "POI_LOG_COORDINATES",
        "POI_LOG_FORMAT",
        "POI_LOOPS", "POI_MAX_BODY_BYTES",
        "POI_MAX_CONNECTIONS", "POI_MAX_CONNECTIONS_PER_CLIENT",
        "POI_MAX_IN_FLIGHT", "POI_MAX_REPLICA_LAG", "POI_MAX_SESSIONS", "POI_MIGRATIONS_DIR",
        "POI_POSTGRES_BIN", "POI_RATE_BURST", "POI_RATE_LIMIT", "POI_READ_DATABASE_URL",
        "POI_READY_REQUIRES_DATABASE", "POI_REQUEST_TIMEOUT", "POI_SCENARIO", "POI_SEEDS",
        "POI_SHUTDOWN_TIMEOUT",
        "POI_STATE_DIR", "POI_TILES_ATTRIBUTION", "POI_TILES_URL",
        "POI_TRUSTED_PROXIES",
    ]

    private static let prefix = "POI_"
    /// With more typos than this, a name is taken as another name.
    private static let maximumTypoCount = 3

    /// Refuses a variable whose name is a setting's with a typo: nothing would read it.
    ///
    /// A name that resembles no setting's is ignored. It belongs to another program (a balancer, or Kubernetes for a
    /// Service `poi`), or is a setting of a newer release, with which an older one has to start. An empty variable
    /// counts as absent, see `SettingsReader`.
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
    /// It allows one typo in three letters: neither is `POI_TOOLS` taken for `POI_LOOPS`, nor the balancer's `POI_LISTEN`
    /// for `POI_DB_LISTEN`.
    static func nearest(to name: String) -> String? {
        guard name.hasPrefix(prefix), !all.contains(name), let mistaken = EditDistance(from: own(name)) else {
            return nil
        }
        var nearest: (name: String, typos: Int)?
        for known in all {
            let typos = mistaken.distance(to: own(known))
            let tolerance = min(maximumTypoCount, min(own(known).count, mistaken.text.count) / 3)
            if typos <= tolerance, typos < nearest?.typos ?? .max { nearest = (known, typos) }
        }
        return nearest?.name
    }

    /// A name without the prefix.
    private static func own(_ name: String) -> [UInt8] { Array(name.utf8.dropFirst(prefix.utf8.count)) }
}

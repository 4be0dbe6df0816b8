import PointsOfInterestAPI

/// The settings of the HTTP service, validated.
public struct ServiceConfiguration: Sendable {
    /// How log lines look.
    public enum LogFormat: String, CaseIterable, Sendable {
        /// Text on a terminal, JSON elsewhere.
        case auto
        /// One JSON object a line.
        case json
        /// One readable line.
        case text
    }

    /// The address to listen on.
    public var host: String
    /// The port to listen on; 0 lets the system choose.
    public var port: Int
    /// The number of loops, each a thread with a listener and database connections of its own.
    public var loops: Int
    /// The most connections a loop keeps open.
    public var maxConnectionsPerLoop: Int
    /// The most requests a loop works on at once.
    public var maxInFlightPerLoop: Int
    /// The most bytes of all bodies that are being received or worked on, in the process.
    public var maxBodyBytes: Int
    /// Where those who run the service reach it.
    public var admin: AdminConfiguration
    /// How the process ends.
    public var lifecycle: LifecycleConfiguration
    /// Query parameters that a gateway adds and that are ignored.
    public var ignoredParameters: [ParameterPattern]
    /// How long answers may be kept.
    public var caching: CachingConfiguration
    /// Who may ask, and how often.
    public var access: AccessConfiguration
    /// What is done with the app's events.
    public var events: EventsConfiguration
    /// Whether readiness needs the database.
    public var readyRequiresDatabase: Bool
    /// Whether each request is logged.
    public var logsAccess: Bool
    /// How log lines look.
    public var logFormat: LogFormat
    /// How much of a request's position is logged.
    public var logCoordinates: LoggedCoordinates
    /// How much of a client's address is logged.
    public var logClient: LoggedClient

    /// Reads the settings.
    ///
    /// - Parameters:
    ///   - processorCount: the default number of loops.
    ///   - isDevelopment: whether the defaults are those of a process on somebody's desk.
    /// - Throws: the first setting that can't be used.
    public init(
        from reader: inout SettingsReader, processorCount: Int, isDevelopment: Bool = false
    ) throws(ConfigurationError) {
        host = try reader.read(.host)
        port = try reader.read(.port)
        admin = try AdminConfiguration(from: &reader, isDevelopment: isDevelopment)
        loops = try reader.read(
            .integer(
                "POI_LOOPS", "event loops; the default is one a core", in: 1...256,
                default: min(max(processorCount, 1), 256)))
        let maxConnections = try reader.read(
            .integer("POI_MAX_CONNECTIONS", "most open connections", in: 1...1_000_000, default: 10_000))
        maxConnectionsPerLoop = max(1, maxConnections / loops)
        let maxInFlight = try reader.read(
            .integer("POI_MAX_IN_FLIGHT", "most requests in work at once", in: 1...1_000_000, default: 1000))
        maxInFlightPerLoop = max(1, maxInFlight / loops)
        maxBodyBytes = try reader.read(
            .integer(
                "POI_MAX_BODY_BYTES", "most memory for the bodies of all requests, in bytes",
                in: 2 * EventLimits.bodyBytes...1 << 40, default: 32 << 20))
        lifecycle = try LifecycleConfiguration(from: &reader, isDevelopment: isDevelopment)
        ignoredParameters = try reader.read(
            .list(
                "POI_IGNORED_PARAMETERS", "query parameters to ignore, utm_* for instance",
                expected: "names, each with a * at its end at most",
                element: { ParameterPattern($0) }))
        caching = try CachingConfiguration(from: &reader)
        access = try AccessConfiguration(from: &reader)
        events = try EventsConfiguration(from: &reader)
        readyRequiresDatabase = try reader.read(
            .flag("POI_READY_REQUIRES_DATABASE", "whether /readyz needs the database", default: false))
        logsAccess = try reader.read(.flag("POI_ACCESS_LOG", "whether each request is logged", default: true))
        logFormat = try reader.read(
            .choice("POI_LOG_FORMAT", "how log lines look", default: LogFormat.auto))
        logCoordinates = try reader.read(
            .choice(
                "POI_LOG_COORDINATES", "how much of a request's position is logged",
                default: LoggedCoordinates.off))
        logClient = try reader.read(
            .choice("POI_LOG_CLIENT", "how much of a client's address is logged", default: LoggedClient.full))
    }
}

/// Where those who run the service reach it.
public struct AdminConfiguration: Hashable, Sendable {
    /// The address of the admin listener.
    public var host: String
    /// Its port, 0 for one that the system chooses; nil where there is no such listener.
    public var port: Int?

    /// Reads the settings.
    ///
    /// - Parameter isDevelopment: whether the system chooses the port by default, so that several run side by side.
    /// - Throws: the first setting that can't be used.
    public init(from reader: inout SettingsReader, isDevelopment: Bool) throws(ConfigurationError) {
        host = try reader.read(
            .text("POI_ADMIN_HOST", "address of the admin listener", default: "127.0.0.1"))
        port = try reader.read(
            Setting<Int?>(
                "POI_ADMIN_PORT", "port of the admin listener; 0 lets the system choose, off is none",
                default: isDevelopment ? "0" : "9464"
            ) { (text) throws(SettingRejection) in
                if text == "off" { return nil }
                guard let port = Int(text), (0...65535).contains(port) else {
                    throw SettingRejection(expected: "a whole number from 0 to 65535, or off")
                }
                return port
            })
    }
}

/// How the process ends.
public struct LifecycleConfiguration: Hashable, Sendable {
    /// How long requests are served as before once the process was told to end and says that it isn't ready:
    /// the time in which balancers notice.
    public var drainDelay: Duration
    /// How long requests in flight may take to finish after that.
    public var shutdownTimeout: Duration

    /// Reads the settings.
    ///
    /// - Parameter isDevelopment: whether nobody has to notice, so that there is no delay by default.
    /// - Throws: the first setting that can't be used.
    public init(from reader: inout SettingsReader, isDevelopment: Bool) throws(ConfigurationError) {
        let times = Duration.zero ... .seconds(3600)
        drainDelay = try reader.read(
            .duration(
                "POI_DRAIN_DELAY", "how long to serve on, as not ready, once told to end", in: times,
                default: isDevelopment ? "0s" : "5s"))
        shutdownTimeout = try reader.read(
            .duration(
                "POI_SHUTDOWN_TIMEOUT", "how long requests may take to finish at the end", in: times,
                default: "20s"))
    }
}

/// How long answers may be kept.
public struct CachingConfiguration: Hashable, Sendable {
    /// For answers to somebody's position, which only that client keeps.
    public var privateMaxAgeSeconds: Int
    /// For all other data, pages and documents, which shared caches may keep.
    public var publicMaxAgeSeconds: Int

    /// Reads the settings; a part of a second counts as none.
    ///
    /// - Throws: the first setting that can't be used.
    public init(from reader: inout SettingsReader) throws(ConfigurationError) {
        let ages = Duration.zero ... .seconds(365 * 86_400)
        privateMaxAgeSeconds = Self.seconds(
            try reader.read(
                .duration(
                    "POI_CACHE_PRIVATE_MAX_AGE", "how long a client may keep answers to a position", in: ages,
                    default: "60s")))
        publicMaxAgeSeconds = Self.seconds(
            try reader.read(
                .duration(
                    "POI_CACHE_PUBLIC_MAX_AGE", "how long anybody may keep other answers", in: ages,
                    default: "60s")))
    }

    private static func seconds(_ duration: Duration) -> Int { Int(duration.components.seconds) }
}

/// Who may ask, and how often.
public struct AccessConfiguration: Sendable {
    /// Origins whose scripts may read answers; none by default.
    public var allowedOrigins: [AllowedOrigin]
    /// Keys, one of which a request for data needs; none by default, and then it needs none.
    public var keys: [AccessKey]
    /// How often a client may ask; nil is as often as it likes.
    public var rateLimit: RateLimit?
    /// The most connections that one client, which is no trusted proxy, may have open.
    public var maxConnectionsPerClient: Int
    /// Proxies whose word counts on where a request comes from.
    public var trustedProxies: [AddressRange]

    /// Reads the settings.
    ///
    /// - Throws: the first setting that can't be used.
    public init(from reader: inout SettingsReader) throws(ConfigurationError) {
        allowedOrigins = try reader.read(
            .list(
                "POI_CORS_ORIGINS", "origins whose scripts may read answers; * is every one",
                expected: "*, or origins such as https://example.com, without a path, in lower case",
                element: { AllowedOrigin(settingText: $0) }))
        keys = try reader.read(
            .list(
                "POI_API_KEYS", "keys, one of which a request for data needs", isSecret: true,
                expected: AccessKey.settingForm, element: { AccessKey(settingText: $0) }))
        rateLimit = try reader.readIfPresent(
            Setting("POI_RATE_LIMIT", "how often a client may ask, 20/s for instance") {
                (text) throws(SettingRejection) in
                guard let limit = RateLimit(settingText: text) else {
                    throw SettingRejection(
                        expected: "1 to 1000000 requests a second, minute or hour, such as 20/s")
                }
                return limit
            })
        let burst = try reader.readIfPresent(
            .optionalInteger(
                "POI_RATE_BURST", "requests at once after a pause; as many as in a period", in: 1...1_000_000)
        )
        if let burst {
            guard rateLimit != nil else {
                throw ConfigurationError("POI_RATE_BURST=\(burst): expected POI_RATE_LIMIT to be set too")
            }
            rateLimit?.burst = burst
        }
        maxConnectionsPerClient = try reader.read(
            .integer(
                "POI_MAX_CONNECTIONS_PER_CLIENT", "most open connections of one client", in: 1...1_000_000,
                default: 256))
        trustedProxies = try reader.read(
            .list(
                "POI_TRUSTED_PROXIES", "proxies whose X-Forwarded-For is believed",
                expected: "addresses, or ranges such as 10.0.0.0/8",
                element: { AddressRange(settingText: $0) }))
    }
}

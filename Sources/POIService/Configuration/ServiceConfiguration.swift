import EventLoop
import HTTPServer
import PointsOfInterestAPI
import Program
import Telemetry

/// The validated settings of the HTTP service.
public struct ServiceConfiguration: Sendable {
    /// The address to listen on.
    public var host: String
    /// The port to listen on; 0 lets the system choose.
    public var port: Int
    /// The number of loops; each has a thread, a listener and database connections of its own.
    public var loops: Int
    /// The maximum number of connections of clients to a loop.
    public var maxConnectionsPerLoop: Int
    /// The maximum number of requests in flight on a loop.
    public var maxInFlightPerLoop: Int
    /// The maximum memory in the process for what clients send, and for responses that they don't take, in bytes; see
    /// `ClientMemory`.
    public var maxBodyBytes: Int
    /// The admin listener.
    public var admin: AdminConfiguration
    /// How the process ends.
    public var lifecycle: LifecycleConfiguration
    /// Query parameters that are ignored, since a gateway adds them.
    public var ignoredParameters: [ParameterPattern]
    /// How long responses may be cached.
    public var caching: CachingConfiguration
    /// Which clients may send requests, and how many.
    public var access: AccessConfiguration
    /// How the app's events are handled.
    public var events: EventsConfiguration
    /// The page at `/`.
    public var startPage: StartPageConfiguration
    /// Whether the process is ready only while the database is reachable.
    public var readyRequiresDatabase: Bool
    /// Whether each request is logged.
    public var logsAccess: Bool
    /// How log lines look.
    public var logFormat: LogFormat
    /// How precisely a request's coordinates are logged.
    public var logCoordinates: LoggedCoordinates
    /// How much of a client's address is logged.
    public var logClient: LoggedClient

    /// Reads the settings.
    ///
    /// - Parameters:
    ///   - processorCount: the default number of loops.
    ///   - isDevelopment: whether the defaults are for a developer's machine.
    /// - Throws: `ConfigurationError` for the first setting that can't be used.
    public init(
        from reader: inout SettingsReader, processorCount: Int, isDevelopment: Bool = false
    ) throws(ConfigurationError) {
        host = try reader.read(.host)
        port = try reader.read(.port)
        admin = try AdminConfiguration(from: &reader, isDevelopment: isDevelopment)
        loops = try reader.read(
            .integer(
                .loops, "number of event loops; by default one a core", in: 1...256,
                default: min(max(processorCount, 1), 256)))
        let maxConnections = try reader.read(
            .integer(
                .maxConnections, "maximum number of open connections", in: 1...1_000_000,
                default: 10_000))
        maxConnectionsPerLoop = max(1, maxConnections / loops)
        let maxInFlight = try reader.read(
            .integer(
                .maxInFlight, "maximum number of requests in flight", in: 1...1_000_000, default: 1000)
        )
        maxInFlightPerLoop = max(1, maxInFlight / loops)
        maxBodyBytes = try reader.read(
            .integer(
                .maxBodyBytes, "maximum memory for what clients send and do not take, in bytes",
                in: 2 * EventLimits.bodyBytes...1 << 40, default: 32 << 20))
        lifecycle = try LifecycleConfiguration(from: &reader, isDevelopment: isDevelopment)
        ignoredParameters = try reader.read(
            .list(
                .ignoredParameters, "query parameters to ignore, such as utm_*",
                expected: "names, each with or without a * at its end",
                element: { ParameterPattern($0) }))
        caching = try CachingConfiguration(from: &reader)
        access = try AccessConfiguration(from: &reader)
        events = try EventsConfiguration(from: &reader)
        startPage = try StartPageConfiguration(from: &reader)
        readyRequiresDatabase = try reader.read(
            .flag(.readyRequiresDatabase, "whether /readyz needs the database", default: false))
        logsAccess = try reader.read(.flag(.accessLog, "whether each request is logged", default: true))
        logFormat = try reader.read(
            .choice(.logFormat, "how log lines look", default: LogFormat.auto))
        logCoordinates = try reader.read(
            .choice(
                .logCoordinates, "how precisely a request's coordinates are logged",
                default: LoggedCoordinates.off))
        logClient = try reader.read(
            .choice(.logClient, "how much of a client's address is logged", default: LoggedClient.full))
    }
}

/// The admin listener, for health and metrics.
public struct AdminConfiguration: Hashable, Sendable {
    /// The address to listen on.
    public var host: String
    /// The port, 0 if the system is to choose it; nil for no admin listener.
    public var port: Int?

    /// Reads the settings.
    ///
    /// - Parameter isDevelopment: whether the system chooses the port by default, so that several processes can run.
    /// - Throws: `ConfigurationError` for the first setting that can't be used.
    public init(from reader: inout SettingsReader, isDevelopment: Bool) throws(ConfigurationError) {
        host = try reader.read(
            .text(.adminHost, "address of the admin listener", default: "127.0.0.1"))
        port = try reader.read(
            Setting<Int?>(
                .adminPort, "port of the admin listener; 0 lets the system choose, off disables it",
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
    /// How long the process goes on serving while it is no longer ready, so that balancers notice.
    public var drainDelay: Duration
    /// The maximum time for the requests in flight after that.
    public var shutdownTimeout: Duration

    /// Reads the settings.
    ///
    /// - Parameter isDevelopment: whether the drain delay is 0 by default.
    /// - Throws: `ConfigurationError` for the first setting that can't be used.
    public init(from reader: inout SettingsReader, isDevelopment: Bool) throws(ConfigurationError) {
        let times = Duration.zero ... .seconds(3600)
        drainDelay = try reader.read(
            .duration(
                .drainDelay, "how long to go on serving, while not ready, after the signal to end",
                in: times,
                default: isDevelopment ? "0s" : "5s"))
        shutdownTimeout = try reader.read(
            .duration(
                .shutdownTimeout, "maximum time for the requests in flight at the end", in: times,
                default: "20s"))
    }
}

/// How long responses may be cached.
public struct CachingConfiguration: Hashable, Sendable {
    /// For responses that depend on the request's centre; only that client caches them.
    public var privateMaxAgeSeconds: Int
    /// For all other data, the problem pages and the OpenAPI document. Shared caches may cache them, but data only if
    /// requests need no key.
    public var publicMaxAgeSeconds: Int

    /// Reads the settings, rounded down to seconds.
    ///
    /// - Throws: `ConfigurationError` for the first setting that can't be used.
    public init(from reader: inout SettingsReader) throws(ConfigurationError) {
        let ages = Duration.zero ... .seconds(365 * 86_400)
        privateMaxAgeSeconds = Self.seconds(
            try reader.read(
                .duration(
                    .cachePrivateMaxAge, "how long a client may cache responses for coordinates",
                    in: ages,
                    default: "60s")))
        publicMaxAgeSeconds = Self.seconds(
            try reader.read(
                .duration(
                    .cachePublicMaxAge, "how long any cache may keep other responses", in: ages,
                    default: "60s")))
    }

    private static func seconds(_ duration: Duration) -> Int { Int(duration.components.seconds) }
}

/// Which clients may send requests, and how many.
public struct AccessConfiguration: Sendable {
    /// Origins whose scripts may read responses; none by default.
    public var allowedOrigins: [AllowedOrigin]
    /// The keys for data; if there are none, as by default, requests need no key.
    public var keys: [AccessKey]
    /// The limit of a client's requests; nil for no limit.
    public var rateLimit: RateLimit?
    /// The maximum number of open connections of a client that isn't a trusted proxy.
    public var maxConnectionsPerClient: Int
    /// Proxies whose `X-Forwarded-For` is believed.
    public var trustedProxies: [AddressRange]

    /// Reads the settings.
    ///
    /// - Throws: `ConfigurationError` for the first setting that can't be used.
    public init(from reader: inout SettingsReader) throws(ConfigurationError) {
        allowedOrigins = try reader.read(
            .list(
                .corsOrigins, "origins whose scripts may read responses; * for all",
                expected: "*, or origins such as https://example.com, without a path, in lower case",
                element: { AllowedOrigin(settingText: $0) }))
        keys = try reader.read(
            .list(
                .apiKeys, "keys for data; a request needs one of them", isSecret: true,
                expected: AccessKey.settingForm, element: { AccessKey(settingText: $0) }))
        rateLimit = try reader.readIfPresent(
            Setting(.rateLimit, "limit of a client's requests, such as 20/s") {
                (text) throws(SettingRejection) in
                guard let limit = RateLimit(settingText: text) else {
                    throw SettingRejection(
                        expected: "1 to 1000000 requests a second, minute or hour, such as 20/s")
                }
                return limit
            })
        let burst = try reader.readIfPresent(
            .optionalInteger(
                .rateBurst, "requests at once after a pause; by default as many as in a period",
                in: 1...1_000_000)
        )
        if let burst {
            guard rateLimit != nil else {
                throw ConfigurationError("POI_RATE_BURST=\(burst): expected POI_RATE_LIMIT to be set too")
            }
            rateLimit?.burst = burst
        }
        maxConnectionsPerClient = try reader.read(
            .integer(
                .maxConnectionsPerClient, "maximum number of open connections of one client",
                in: 1...1_000_000,
                default: 256))
        trustedProxies = try reader.read(
            .list(
                .trustedProxies, "proxies whose X-Forwarded-For is believed",
                expected: "addresses, or ranges such as 10.0.0.0/8",
                element: { AddressRange(settingText: $0) }))
    }
}

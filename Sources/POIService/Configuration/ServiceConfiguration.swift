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

import PointsOfInterestServerAPI
import EventLoop
import HTTPServer
import PointsOfInterestAPI
import Program
import Telemetry

#if canImport(Darwin)
    import Darwin
    private typealias GroupEntry = Darwin.group
#else
    import Glibc
    private typealias GroupEntry = Glibc.group
#endif

package struct ServiceConfiguration: Sendable {
    package var host: String
    /// The port to listen on; 0 lets the system choose.
    package var port: Int
    /// Who may connect, where the host is a Unix socket.
    package var socketPermissions: UnixSocketPermissions
    /// The number of loops; each has a thread, a listener and database connections of its own.
    package var loops: Int
    /// The maximum number of connections of clients to a loop.
    package var maxConnectionsPerLoop: Int
    static let usualDigestPlaces = 100_000

    /// The maximum number of requests in flight on a loop.
    package var maxInFlightPerLoop: Int
    /// The maximum memory in the process for what clients send, and for responses that they don't take, in bytes; see
    /// `ClientMemory`.
    package var maxBodyBytes: Int
    package var admin: AdminConfiguration
    package var lifecycle: LifecycleConfiguration
    /// Query parameters that are ignored, since a gateway adds them.
    package var ignoredParameters: [ParameterPattern]
    package var caching: CachingConfiguration
    package var access: AccessConfiguration
    package var events: EventsConfiguration
    package var editing: EditingConfiguration
    package var reports: ReportsConfiguration
    /// With more places than this, a filter's sums are refused; nil where none are told.
    package var digestMaxPlaces: Int?
    package var startPage: StartPageConfiguration
    /// Whether the process is ready only while the database is reachable.
    package var readyRequiresDatabase: Bool
    package var logsAccess: Bool
    package var logFormat: LogFormat
    package var logCoordinates: LoggedCoordinates
    package var logClient: LoggedClient

    /// - Parameters:
    ///   - processorCount: the default number of loops.
    ///   - takesReports: the default of `POI_REPORTS`.
    package init(
        from reader: inout SettingsReader, processorCount: Int, isDevelopment: Bool = false,
        takesReports: Bool = false
    ) throws(ConfigurationError) {
        host = try reader.read(.host)
        port = try reader.read(.port)
        socketPermissions = try UnixSocketPermissions(from: &reader, host: host)
        admin = try AdminConfiguration(from: &reader, isDevelopment: isDevelopment)
        loops = try reader.read(
            .integer(
                .loops, "number of event loops; by default one a core", in: 1...256,
                default: min(max(processorCount, 1), 256)))
        let maxConnections = try reader.read(
            .integer(
                .maxConnections, "maximum number of open connections", in: 1...1_000_000, default: 10_000))
        maxConnectionsPerLoop = max(1, maxConnections / loops)
        let maxInFlight = try reader.read(
            .integer(.maxInFlight, "maximum number of requests in flight", in: 1...1_000_000, default: 1000))
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
        editing = try EditingConfiguration(from: &reader, trustedProxies: access.trustedProxies)
        reports = try ReportsConfiguration(from: &reader, isOnByDefault: takesReports)
        let maximum = try reader.readIfPresent(
            .optionalInteger(
                .digestMaxPlaces, "how many places a phone may compare and download; 0 for none",
                in: 0...10_000_000))
        // Whoever compares downloads: without a key, only where that is asked for.
        let places = maximum ?? (access.keys.isEmpty ? 0 : Self.usualDigestPlaces)
        digestMaxPlaces = places > 0 ? places : nil
        startPage = try StartPageConfiguration(from: &reader)
        readyRequiresDatabase = try reader.read(
            .flag(.readyRequiresDatabase, "whether /readyz needs the database", default: false))
        logsAccess = try reader.read(.flag(.accessLog, "whether each request is logged", default: true))
        logFormat = try reader.read(.choice(.logFormat, "how log lines look", default: LogFormat.auto))
        logCoordinates = try reader.read(
            .choice(
                .logCoordinates, "how precisely a request's coordinates are logged",
                default: LoggedCoordinates.off))
        logClient = try reader.read(
            .choice(.logClient, "how much of a client's address is logged", default: LoggedClient.full))
    }
}

extension UnixSocketPermissions {
    /// - Throws: also for a setting that is there while the host is no Unix socket.
    init(from reader: inout SettingsReader, host: String) throws(ConfigurationError) {
        self.init(
            mode: try reader.readIfPresent(
                Setting(.socketMode, "mode of the Unix socket's file, such as 660") {
                    (text) throws(SettingRejection) in
                    guard (3...4).contains(text.utf8.count), let mode = mode_t(text, radix: 8), mode <= 0o777
                    else { throw SettingRejection(expected: "three octal digits, such as 660") }
                    return mode
                }),
            group: try reader.readIfPresent(
                Setting(.socketGroup, "group of the Unix socket's file") { (text) throws(SettingRejection) in
                    guard let group = gid_t(text) ?? Self.group(named: text), group != gid_t.max else {
                        throw SettingRejection(expected: "the name or the number of a group of this machine")
                    }
                    return group
                }))
        guard host.hasPrefix("unix:") || self == UnixSocketPermissions() else {
            let name = mode == nil ? SettingName.socketGroup : .socketMode
            throw ConfigurationError("\(name): expected HOST to be unix: and a path")
        }
    }

    private static func group(named name: String) -> gid_t? {
        var entry = GroupEntry()
        var found: UnsafeMutablePointer<GroupEntry>?
        var texts = [CChar](repeating: 0, count: 1 << 16)
        guard getgrnam_r(name, &entry, &texts, texts.count, &found) == 0, found != nil else { return nil }
        return entry.gr_gid
    }
}

package struct AdminConfiguration: Hashable, Sendable {
    package var host: String
    /// The port, 0 if the system is to choose it; nil for no admin listener.
    package var port: Int?

    /// - Parameter isDevelopment: whether the system chooses the port by default, so that several processes can run.
    package init(from reader: inout SettingsReader, isDevelopment: Bool) throws(ConfigurationError) {
        host = try reader.read(.text(.adminHost, "address of the admin listener", default: "127.0.0.1"))
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

package struct LifecycleConfiguration: Hashable, Sendable {
    /// How long the process goes on serving while it is no longer ready, so that balancers notice.
    package var drainDelay: Duration
    /// The maximum time for the requests in flight after that.
    package var shutdownTimeout: Duration

    /// - Parameter isDevelopment: whether the drain delay is 0 by default.
    package init(from reader: inout SettingsReader, isDevelopment: Bool) throws(ConfigurationError) {
        let times = Duration.zero ... .seconds(3600)
        drainDelay = try reader.read(
            .duration(
                .drainDelay, "how long to go on serving, while not ready, after the signal to end", in: times,
                default: isDevelopment ? "0s" : "5s"))
        shutdownTimeout = try reader.read(
            .duration(
                .shutdownTimeout, "maximum time for the requests in flight at the end", in: times,
                default: "20s"))
    }
}

package struct CachingConfiguration: Hashable, Sendable {
    /// For responses that depend on the request's centre; only that client caches them.
    package var privateMaxAgeSeconds: Int
    /// For all other data, the problem pages and the OpenAPI document. Shared caches may cache them, but data only if
    /// requests need no key.
    package var publicMaxAgeSeconds: Int

    /// Rounds down to seconds.
    package init(from reader: inout SettingsReader) throws(ConfigurationError) {
        let ages = Duration.zero ... .seconds(365 * 86_400)
        privateMaxAgeSeconds = Self.seconds(
            try reader.read(
                .duration(
                    .cachePrivateMaxAge, "how long a client may cache responses for coordinates", in: ages,
                    default: "60s")))
        publicMaxAgeSeconds = Self.seconds(
            try reader.read(
                .duration(
                    .cachePublicMaxAge, "how long any cache may keep other responses", in: ages,
                    default: "60s")))
    }

    private static func seconds(_ duration: Duration) -> Int { Int(duration.components.seconds) }
}

package struct AccessConfiguration: Sendable {
    /// Origins whose scripts may read responses; none by default.
    package var allowedOrigins: [AllowedOrigin]
    /// The keys for data; if there are none, as by default, requests need no key.
    package var keys: [AccessKey]
    package var rateLimit: RateLimit?
    /// The maximum number of open connections of a client that isn't a trusted proxy.
    package var maxConnectionsPerClient: Int
    package var trustedProxies: [AddressRange]

    package init(from reader: inout SettingsReader) throws(ConfigurationError) {
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
                try RateLimit(orRejecting: text)
            })
        let burst = try reader.readIfPresent(
            .optionalInteger(
                .rateBurst, "requests at once after a pause; by default as many as in a period",
                in: 1...1_000_000))
        if let burst {
            guard rateLimit != nil else {
                throw ConfigurationError("POI_RATE_BURST=\(burst): expected POI_RATE_LIMIT to be set too")
            }
            rateLimit?.burst = burst
        }
        maxConnectionsPerClient = try reader.read(
            .integer(
                .maxConnectionsPerClient, "maximum number of open connections of one client",
                in: 1...1_000_000, default: 256))
        trustedProxies = try reader.read(
            .list(
                .trustedProxies, "proxies whose X-Forwarded-For is believed",
                expected: "addresses, or ranges such as 10.0.0.0/8",
                element: { AddressRange(settingText: $0) }))
    }
}

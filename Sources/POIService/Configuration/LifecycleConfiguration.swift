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

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Where observations go: the log for now.
///
/// Any thread; nothing here blocks its caller.
public final class Observability: Sendable {
    /// Whether requests are observed; where they aren't, making their observations can be spared.
    public let observesRequests: Bool

    private let writer: LogWriter
    private let formatter: LogFormatter

    /// Logs to a descriptor, standard error mostly.
    ///
    /// - Throws: `EventLoopError` where the system gives no thread.
    public init(
        format: ServiceConfiguration.LogFormat, logsAccess: Bool, descriptor: Int32 = STDERR_FILENO
    ) throws {
        observesRequests = logsAccess
        let formatter = LogFormatter(
            isJSON: format == .json || (format == .auto && isatty(descriptor) == 0))
        self.formatter = formatter
        writer = try LogWriter(descriptor: descriptor) { count in
            formatter.line(for: .logLinesDropped(count), at: .now)
        }
    }

    /// Tells of something that has happened.
    public func record(_ observation: Observation) {
        guard !observation.isOnlyCounted else { return }
        writer.write(formatter.line(for: observation, at: .now))
    }

    /// Writes what is still to be written; to be called last, once. It blocks.
    public func finish() {
        writer.finish()
    }
}

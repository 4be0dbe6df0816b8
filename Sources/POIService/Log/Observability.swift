import Locking

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Where observations go: the log, and the metrics of the process.
///
/// Requests are counted by their loops, see `RequestMetrics`.
///
/// Any thread; nothing here blocks its caller.
public final class Observability: Sendable {
    /// Whether requests are observed; where they aren't, making their observations can be spared.
    public let observesRequests: Bool

    /// When the process began to observe.
    let start = Timestamp.now
    private let writer: LogWriter
    private let requestFailures = Lock(0)
    private let events = Lock(EventMetrics())
    private let formatter: LogFormatter

    /// Logs to a descriptor, standard error mostly.
    ///
    /// - Throws: `EventLoopError` where the system gives no thread.
    public init(
        format: ServiceConfiguration.LogFormat, logsAccess: Bool, client: LoggedClient = .full,
        descriptor: Int32 = STDERR_FILENO
    ) throws {
        observesRequests = logsAccess
        let formatter = LogFormatter(
            isJSON: format == .json || (format == .auto && isatty(descriptor) == 0), client: client)
        self.formatter = formatter
        writer = try LogWriter(descriptor: descriptor) { count in
            formatter.line(for: .logLinesDropped(count), at: .now)
        }
    }

    /// Tells of something that has happened.
    public func record(_ observation: Observation) {
        switch observation {
        case .failure: requestFailures.withLock { $0 += 1 }
        case .eventsStored(let counts): events.withLock { $0.add(counts) }
        case .eventsRefused: events.withLock { $0.addRefusal() }
        default: break
        }
        guard !observation.isOnlyCounted else { return }
        writer.write(formatter.line(for: observation, at: .now))
    }

    /// What was counted of rare observations.
    func collectMetrics(into snapshot: inout MetricsSnapshot) {
        snapshot.add(requestFailures.withLock { $0 }, to: .requestFailures)
        events.withLock { $0 }.collect(into: &snapshot)
        snapshot.add(writer.droppedLineCount, to: .droppedLogLines)
    }

    /// Writes what is still to be written, within a second; to be called last, once. It blocks.
    public func finish() {
        writer.finish()
    }
}

import EventLoop
import Locking

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// How log lines look.
public enum LogFormat: String, CaseIterable, Sendable {
    /// Text on a terminal, JSON elsewhere.
    case auto
    /// JSON, one object a line.
    case json
    /// Text for people.
    case text
}

/// Records observations in the log and in the metrics of the process.
///
/// It doesn't count requests: each loop counts its own, see `RequestMetrics`.
///
/// Any thread; only `finish` blocks.
public final class Observability: Sendable {
    /// Whether requests are logged. If not, their observations needn't be made.
    public let observesRequests: Bool

    /// When the process began.
    package let start = Timestamp.now
    /// Writes the log.
    package let writer: LogWriter
    private let requestFailures = Lock(0)
    private let events = Lock(EventMetrics())
    private let formatter: LogFormatter
    /// Whether lines are JSON.
    package var isJSON: Bool { formatter.isJSON }

    /// Logs to a descriptor, usually standard error.
    ///
    /// - Throws: `EventLoopError` if the system refuses a thread.
    public init(
        format: LogFormat, logsAccess: Bool,
        descriptor: Int32 = STDERR_FILENO
    ) throws {
        observesRequests = logsAccess
        let formatter = LogFormatter(
            isJSON: format == .json || (format == .auto && isatty(descriptor) == 0))
        self.formatter = formatter
        writer = try LogWriter(descriptor: descriptor) { count in
            formatter.line(for: .logLinesDropped(count), at: .now)
        }
    }

    /// Records something that has happened.
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

    /// Adds the metrics of observations that aren't requests.
    package func collectMetrics(into snapshot: inout MetricsSnapshot) {
        snapshot.add(requestFailures.withLock { $0 }, to: .requestFailures)
        events.withLock { $0 }.collect(into: &snapshot)
        snapshot.add(writer.droppedLineCount, to: .droppedLogLines)
    }

    /// Writes the lines that still wait, for at most a second. Call it last, once; it blocks.
    public func finish() {
        writer.finish()
    }
}

import Dispatch
import EventLoop
import Locking
import Program

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

/// Writes log lines to a descriptor on a thread of its own, so that a slow reader doesn't block a loop.
///
/// Any thread. The bytes that wait are bounded. Lines beyond the bound are dropped, and so are lines that can't be
/// written, for instance to a full disk. As soon as a line can be written again, a notice tells how many were dropped.
public final class LogWriter: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        /// Lines that were dropped since the last notice.
        var droppedLines = 0
        /// Lines that were dropped since the start.
        var allDroppedLines = 0
        var isDraining = false

        mutating func drop(_ lines: Int) {
            droppedLines += lines
            allDroppedLines += lines
        }
    }

    typealias WriteBytes = @Sendable (UnsafeRawBufferPointer) -> DescriptorOutput.Failure?

    private let writeBytes: WriteBytes
    private let limit: Int
    private let droppedLinesNotice: @Sendable (Int) -> [UInt8]
    private let state = Lock(State())
    /// Whether the last write ended within a line. Only the thread uses it.
    private let endsWithinLine = Lock(false)
    private let thread: EventLoopThread

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - descriptor: where lines go, usually standard error. The caller owns it.
    ///   - limit: the maximum number of bytes that wait.
    ///   - droppedLinesNotice: makes the notice for a number of dropped lines.
    /// - Throws: `EventLoopError` if the system refuses a thread.
    public convenience init(
        descriptor: Int32, limit: Int = 1 << 20, droppedLinesNotice: @escaping @Sendable (Int) -> [UInt8]
    ) throws {
        try self.init(limit: limit, droppedLinesNotice: droppedLinesNotice) { bytes in
            DescriptorOutput.write(bytes, to: descriptor)
        }
    }

    /// Starts the thread, which calls `writeBytes`.
    init(
        limit: Int, droppedLinesNotice: @escaping @Sendable (Int) -> [UInt8], writeBytes: @escaping WriteBytes
    ) throws {
        self.writeBytes = writeBytes
        self.limit = limit
        self.droppedLinesNotice = droppedLinesNotice
        // Lines can wait for longer than requests.
        thread = try EventLoopThread.start(name: "poi-log", yields: true)
    }

    /// The number of lines that were dropped since the start.
    var droppedLineCount: Int { state.withLock { $0.allDroppedLines } }

    /// Queues one line, which includes its line feed.
    public func write(_ line: [UInt8]) {
        line.withUnsafeBytes { write($0, lineCount: 1) }
    }

    /// Queues lines, each of which includes its line feed. Where they don't fit, all of them are dropped.
    package func write(_ lines: UnsafeRawBufferPointer, lineCount: Int) {
        let startsDraining = state.withLock { state in
            if state.waiting.count + lines.count <= limit {
                state.waiting.append(contentsOf: lines)
            } else {
                state.drop(lineCount)
            }
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if startsDraining { thread.loop.execute { self.drain() } }
    }

    /// Writes the lines that wait, and ends the thread. Call it once, when the process is about to end; it blocks.
    ///
    /// - Parameter limit: the maximum time for it. After that the thread goes on, and lines may be lost.
    /// - Returns: whether the thread has ended.
    @discardableResult
    public func finish(within limit: Duration = .seconds(1)) -> Bool {
        let isDone = DispatchSemaphore(value: 0)
        thread.loop.execute { isDone.signal() }
        guard isDone.wait(timeout: .now() + .milliseconds(Int(limit.wholeMilliseconds))) == .success else {
            return false
        }
        thread.stopAndJoin()
        return true
    }

    private func drain() {
        var canWrite = true
        while true {
            let (bytes, droppedLines) = state.withLock { state in
                // If a notice can't be written, it waits until a line can be written.
                let taken = (state.waiting, canWrite ? state.droppedLines : 0)
                state.waiting = []
                state.isDraining = !taken.0.isEmpty || taken.1 > 0
                return taken
            }
            if bytes.isEmpty && droppedLines == 0 { return }
            let lostLines = writeLines(bytes)
            canWrite = lostLines == 0
            if canWrite && droppedLines > 0 {
                canWrite = writeLines(droppedLinesNotice(droppedLines)) == 0
                if canWrite { state.withLock { $0.droppedLines -= droppedLines } }
            }
            if lostLines > 0 { state.withLock { $0.drop(lostLines) } }
        }
    }

    /// Writes lines, and returns how many of them were not written completely.
    private func writeLines(_ bytes: [UInt8]) -> Int {
        let lineFeed = UInt8(ascii: "\n")
        // A line that was cut off must not be continued by the next one.
        let text = endsWithinLine.withLock { $0 } ? [lineFeed] + bytes : bytes
        guard let failure = text.withUnsafeBytes(writeBytes) else {
            endsWithinLine.withLock { $0 = false }
            return 0
        }
        if failure.writtenCount > 0 {
            let last = text[failure.writtenCount - 1]
            endsWithinLine.withLock { $0 = last != lineFeed }
        }
        // The line feed that ends a line cut off before doesn't count as one of these lines.
        return text[max(failure.writtenCount, text.count - bytes.count)...].count { $0 == lineFeed }
    }
}

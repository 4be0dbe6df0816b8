import Bytes
import Dispatch
import EventLoop
import Locking
import Program

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

package enum LogFormat: String, CaseIterable, Sendable {
    /// Text on a terminal, JSON elsewhere.
    case auto
    case json
    case text
}

/// It doesn't count requests: each loop counts its own, see `RequestMetrics`. Any thread; only `finish` blocks.
package final class Observability: Sendable {
    /// Whether requests are logged. If not, their observations needn't be made.
    package let observesRequests: Bool

    package let start = Timestamp.now
    package let writer: LogWriter
    private let requestFailures = Lock(0)
    private let unavailabilities = Lock(ReasonFilter())
    private let events = Lock(EventMetrics())
    private let formatter: LogFormatter
    package var isJSON: Bool { formatter.isJSON }

    package init(
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

    package func record(_ observation: Observation) {
        switch observation {
        case .failure(_, _, let reason, let isUnavailability):
            requestFailures.withLock { $0 += 1 }
            // While a database is away, each request fails for the same reason.
            guard !isUnavailability || unavailabilities.withLock({ $0.isDue(reason, at: .now) }) else {
                return
            }
        case .eventsStored(let counts): events.withLock { $0.add(counts) }
        case .eventsRefused: events.withLock { $0.addRefusal() }
        default: break
        }
        guard !observation.isOnlyCounted else { return }
        writer.write(formatter.line(for: observation, at: .now))
    }

    package func collectMetrics(into snapshot: inout MetricsSnapshot) {
        snapshot.add(requestFailures.withLock { $0 }, to: .requestFailures)
        events.withLock { $0 }.collect(into: &snapshot)
        snapshot.add(writer.droppedLineCount, to: .droppedLogLines)
    }

    /// Writes the lines that still wait, for at most a second. Call it last, once; it blocks.
    package func finish() {
        writer.finish()
    }
}

/// Each reason is due at most once a minute.
package struct ReasonFilter: Sendable {
    private var loggedAt: [String: ContinuousClock.Instant] = [:]

    private static let interval = Duration.seconds(60)
    private static let limit = 100

    package init() {}

    package mutating func isDue(_ reason: String, at now: ContinuousClock.Instant) -> Bool {
        if let time = loggedAt[reason], now - time < Self.interval { return false }
        if loggedAt.count >= Self.limit { loggedAt = [:] }
        loggedAt[reason] = now
        return true
    }
}

/// Writes log lines to a descriptor on a thread of its own, so that a slow reader doesn't block a loop.
///
/// Any thread. The bytes that wait are bounded. Lines beyond the bound are dropped, and so are lines that can't be
/// written, for instance to a full disk. As soon as a line can be written again, a notice tells how many were dropped.
package final class LogWriter: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        /// Lines that were dropped since the last notice.
        var droppedLines = 0
        var allDroppedLines = 0
        var isDraining = false

        mutating func drop(_ lines: Int) {
            droppedLines += lines
            allDroppedLines += lines
        }
    }

    typealias WriteBytes = @Sendable ([UInt8]) -> DescriptorOutput.Failure?

    private let writeBytes: WriteBytes
    private let limit: Int
    private let droppedLinesNotice: @Sendable (Int) -> [UInt8]
    private let state = Lock(State())
    /// Whether the last write ended within a line. Only the thread uses it.
    private let endsWithinLine = Lock(false)
    private let thread: EventLoopThread

    /// - Parameters:
    ///   - descriptor: usually standard error. The caller owns it.
    ///   - limit: the maximum number of bytes that wait.
    package convenience init(
        descriptor: Int32, limit: Int = 1 << 20, droppedLinesNotice: @escaping @Sendable (Int) -> [UInt8]
    ) throws {
        try self.init(limit: limit, droppedLinesNotice: droppedLinesNotice) { bytes in
            DescriptorOutput.write(bytes, to: descriptor)
        }
    }

    init(
        limit: Int, droppedLinesNotice: @escaping @Sendable (Int) -> [UInt8], writeBytes: @escaping WriteBytes
    ) throws {
        self.writeBytes = writeBytes
        self.limit = limit
        self.droppedLinesNotice = droppedLinesNotice
        // Lines can wait for longer than requests.
        thread = try EventLoopThread.start(name: "poi-log", yields: true)
    }

    var droppedLineCount: Int { state.withLock { $0.allDroppedLines } }

    /// With its line feed.
    package func write(_ line: [UInt8]) {
        write(count: line.count, lineCount: 1) { $0 += line }
    }

    /// Each with its line feed. Where they don't fit, all of them are dropped.
    package func write(_ lines: borrowing ByteBuffer, lineCount: Int) {
        write(count: lines.count, lineCount: lineCount) { lines.append(to: &$0) }
    }

    private func write(count: Int, lineCount: Int, _ append: (inout [UInt8]) -> Void) {
        let startsDraining = state.withLock { state in
            if state.waiting.count + count <= limit {
                append(&state.waiting)
            } else {
                state.drop(lineCount)
            }
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if startsDraining { thread.loop.execute { self.drain() } }
    }

    /// Writes the lines that wait, and ends the thread. Call it once, when the process is about to end; it blocks, for at most
    /// `limit`. After that the thread goes on, and lines may be lost. Returns whether it has ended.
    @discardableResult
    package func finish(within limit: Duration = .seconds(1)) -> Bool {
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

    /// Returns how many lines were not written completely.
    private func writeLines(_ bytes: [UInt8]) -> Int {
        let lineFeed = UInt8(ascii: "\n")
        // A line that was cut off must not be continued by the next one.
        let text = endsWithinLine.withLock { $0 } ? [lineFeed] + bytes : bytes
        guard let failure = writeBytes(text) else {
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

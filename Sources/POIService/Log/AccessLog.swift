import Bytes
import EventLoop
import HTTPServer
import Locking
import PointsOfInterestAPI
import Telemetry

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The log of one loop's requests, a line for each. Lines are formatted in memory of the loop and handed to the log's thread
/// in batches, so that a request costs no allocation, lock or wake-up of a thread. A line is handed over `maximumDelay`
/// after it was written, or earlier. Confined to its loop.
final class AccessLog {
    private let writer: LogWriter
    private let formatter: RequestLogFormatter
    private var timer: LoopTimer?
    private let state: Confined<State>

    private struct State: ~Copyable {
        var buffer = ByteBuffer(capacity: 4096)
        var lineCount = 0
        var clock = LogClock()
        var members = LogMembers()
    }

    private static let maximumDelay = Duration.milliseconds(50)
    private static let batchBytes = 16 * 1024

    init(loop: EventLoop, writer: LogWriter, formatter: RequestLogFormatter) {
        self.writer = writer
        self.formatter = formatter
        state = Confined(State())
        timer = LoopTimer(loop: loop) { [weak self] in self?.flush() }
    }

    func record(_ request: RequestObservation) {
        if state.value.lineCount == 0 {
            state.value.clock.synchronize()
            timer?.start(after: Self.maximumDelay)
        }
        formatter.append(request, &state.value.clock, &state.value.members, to: &state.value.buffer)
        state.value.lineCount += 1
        if state.value.buffer.count >= Self.batchBytes { flush() }
    }

    func flush() {
        guard state.value.lineCount > 0 else { return }
        writer.write(state.value.buffer, lineCount: state.value.lineCount)
        state.value.buffer.removeAll()
        state.value.lineCount = 0
    }

    /// Hands over all lines. Call it once, at the end.
    func close() {
        flush()
        timer?.close()
        timer = nil
    }
}

extension Observability {
    func makeAccessLog(loop: EventLoop, client: LoggedClient) -> AccessLog? {
        guard observesRequests else { return nil }
        return AccessLog(
            loop: loop, writer: writer, formatter: RequestLogFormatter(isJSON: isJSON, client: client))
    }

    /// Logs a request at once. Any thread.
    package func record(_ request: RequestObservation, client: LoggedClient) {
        writer.write(RequestLogFormatter(isJSON: isJSON, client: client).line(for: request, at: .now))
    }
}

extension ByteBuffer {
    /// Appends thousandths as a decimal number, without zeros at its end: 1250 is `1.25`.
    mutating func append(thousandths number: UInt64) { appendDecimal(Double(number) / 1000) }
}

/// Writes the wall clock's time for readings of the monotonic clock. The text is formatted once a second; only its
/// milliseconds change in between.
struct LogClock: ~Copyable {
    private var offsetNanoseconds: Int64 = 0
    private var second = Int.min
    /// The text of `second`, to the point behind it: `2026-11-21T01:35:33.`
    private var text: [UInt8] = []

    /// Reads both clocks again, since somebody may have set the wall clock.
    mutating func synchronize() { set(WallClock.nanoseconds(), at: MonotonicClock.nanoseconds()) }

    /// Sets the wall clock's time that belongs to a reading of the monotonic clock.
    mutating func set(_ wallNanoseconds: Int64, at monotonicNanoseconds: Int64) {
        offsetNanoseconds = wallNanoseconds - monotonicNanoseconds
    }

    /// Writes the time of a reading in the format of RFC 3339, in UTC with milliseconds.
    mutating func append(_ monotonicNanoseconds: Int64, to buffer: inout ByteBuffer) {
        let milliseconds = Int((monotonicNanoseconds + offsetNanoseconds) / 1_000_000)
        let (second, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        if second != self.second { format(second) }
        buffer.append(text)
        let thousandths = UInt64(rest.magnitude)
        let digits = thousandths / 100 | (thousandths / 10 % 10) << 8 | (thousandths % 10) << 16
        buffer.append(low: digits + 0x5A_30_30_30, high: 0, count: 4)
    }

    private mutating func format(_ second: Int) {
        self.second = second
        text = Array(Timestamp(seconds: second, milliseconds: 0).rfc3339.utf8.dropLast(4))
    }
}

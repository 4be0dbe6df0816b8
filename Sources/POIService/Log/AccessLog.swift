import EventLoop
import HTTPServer
import Locking
import Telemetry

/// The log of one loop's requests, a line for each. Lines are formatted in memory of the loop and handed to the log's
/// thread in batches, so that a request costs no allocation, lock or wake-up of a thread.
///
/// A line is handed over `maximumDelay` after it was written, or earlier. Confined to its loop.
final class AccessLog {
    private let writer: LogWriter
    private let formatter: RequestLogFormatter
    private var timer: LoopTimer?
    private let state: Confined<State>

    private struct State: ~Copyable {
        var buffer = LineBuffer()
        var lineCount = 0
        var clock = LogClock()
        var members = LogMembers()
    }

    private static let maximumDelay = Duration.milliseconds(50)
    /// A batch is handed over when it has this number of bytes.
    private static let batchBytes = 16 * 1024

    init(loop: EventLoop, writer: LogWriter, formatter: RequestLogFormatter) {
        self.writer = writer
        self.formatter = formatter
        state = Confined(State())
        timer = LoopTimer(loop: loop) { [weak self] in self?.flush() }
    }

    /// Writes the line of a request.
    func record(_ request: RequestObservation) {
        if state.value.lineCount == 0 {
            state.value.clock.synchronize()
            timer?.start(after: Self.maximumDelay)
        }
        formatter.append(
            request, &state.value.clock, &state.value.members, to: &state.value.buffer)
        state.value.lineCount += 1
        if state.value.buffer.count >= Self.batchBytes { flush() }
    }

    /// Hands over all lines.
    func flush() {
        guard state.value.lineCount > 0 else { return }
        writer.write(state.value.buffer.bytes, lineCount: state.value.lineCount)
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
    /// Makes the log of a loop's requests, on that loop's thread; nil if requests aren't logged.
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

import EventLoop
import HTTPServer

/// The log of one loop's requests: a line each, formatted in memory of the loop and handed to the log's thread in
/// batches, so that a request costs no allocation, lock or wake-up of a thread.
///
/// A line is handed over at the latest `maximumDelay` after it was written. Confined to its loop.
final class AccessLog {
    private let writer: LogWriter
    private let formatter: LogFormatter
    private var timer: LoopTimer?
    /// In memory of its own, so that accesses aren't checked at run time.
    private let state: UnsafeMutablePointer<State>

    private struct State: ~Copyable {
        var buffer = LineBuffer()
        var lineCount = 0
        var clock = LogClock()
        var members = LogMembers()
    }

    private static let maximumDelay = Duration.milliseconds(50)
    /// A batch is handed over when it has this number of bytes.
    private static let batchBytes = 16 * 1024

    init(loop: EventLoop, writer: LogWriter, formatter: LogFormatter) {
        self.writer = writer
        self.formatter = formatter
        state = .allocate(capacity: 1)
        state.initialize(to: State())
        timer = LoopTimer(loop: loop) { [weak self] in self?.flush() }
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Writes the line of a request.
    func record(_ request: RequestObservation) {
        if state.pointee.lineCount == 0 {
            state.pointee.clock.synchronize()
            timer?.start(after: Self.maximumDelay)
        }
        formatter.append(
            request, &state.pointee.clock, &state.pointee.members, to: &state.pointee.buffer)
        state.pointee.lineCount += 1
        if state.pointee.buffer.count >= Self.batchBytes { flush() }
    }

    /// Hands over all lines.
    func flush() {
        guard state.pointee.lineCount > 0 else { return }
        writer.write(state.pointee.buffer.bytes, lineCount: state.pointee.lineCount)
        state.pointee.buffer.removeAll()
        state.pointee.lineCount = 0
    }

    /// Hands over all lines. Call it once, at the end.
    func close() {
        flush()
        timer?.close()
        timer = nil
    }
}

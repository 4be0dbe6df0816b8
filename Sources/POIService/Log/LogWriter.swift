import Dispatch
import EventLoop
import Locking

/// Writes log lines to a descriptor on a thread of its own, so that a reader that stalls holds up no loop.
///
/// Any thread. What waits to be written is bounded. Lines beyond that are dropped, as are those that the descriptor
/// refuses, because of a full disk for instance; as soon as one can be written again, it says how many they were.
public final class LogWriter: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        /// Since the last notice of them, and since the start.
        var droppedLines = 0
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
    /// Whether what was written last ended within a line; of the thread only.
    private let endsWithinLine = Lock(false)
    private let thread: EventLoopThread

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - descriptor: where lines go, standard error mostly; it stays the caller's.
    ///   - limit: the most bytes that wait.
    ///   - droppedLinesNotice: makes the line that tells of so many dropped ones.
    /// - Throws: `EventLoopError` where the system gives no thread.
    public convenience init(
        descriptor: Int32, limit: Int = 1 << 20, droppedLinesNotice: @escaping @Sendable (Int) -> [UInt8]
    ) throws {
        try self.init(limit: limit, droppedLinesNotice: droppedLinesNotice) { bytes in
            DescriptorOutput.write(bytes, to: descriptor)
        }
    }

    /// Starts the thread, which writes by `writeBytes`.
    init(
        limit: Int, droppedLinesNotice: @escaping @Sendable (Int) -> [UInt8], writeBytes: @escaping WriteBytes
    ) throws {
        self.writeBytes = writeBytes
        self.limit = limit
        self.droppedLinesNotice = droppedLinesNotice
        thread = try EventLoopThread.start(name: "poi-log")
    }

    /// How many lines were dropped since the start.
    var droppedLineCount: Int { state.withLock { $0.allDroppedLines } }

    /// Queues one line, its line feed included.
    public func write(_ line: [UInt8]) {
        let startsDraining = state.withLock { state in
            if state.waiting.count + line.count <= limit {
                state.waiting += line
            } else {
                state.drop(1)
            }
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if startsDraining { thread.loop.execute { self.drain() } }
    }

    /// Writes what waits and ends the thread. To be called once; it blocks, but not for a reader that has stalled.
    ///
    /// - Parameter limit: how long what waits may take. After that the thread is left behind, with what it has not
    ///   written; it is for a process that is about to end.
    /// - Returns: whether the thread has ended.
    @discardableResult
    public func finish(within limit: Duration = .seconds(1)) -> Bool {
        let isDone = DispatchSemaphore(value: 0)
        thread.loop.execute { isDone.signal() }
        let milliseconds =
            limit.components.seconds * 1000 + limit.components.attoseconds / 1_000_000_000_000_000
        guard isDone.wait(timeout: .now() + .milliseconds(Int(milliseconds))) == .success else {
            return false
        }
        thread.stopAndJoin()
        return true
    }

    private func drain() {
        var canWrite = true
        while true {
            let (bytes, droppedLines) = state.withLock { state in
                // A notice that can't be written now waits for the next line that can.
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

    /// Writes lines; answers how many of them could not be written, or not to their end.
    private func writeLines(_ bytes: [UInt8]) -> Int {
        let lineFeed = UInt8(ascii: "\n")
        // What was cut off must not become the beginning of another line.
        let text = endsWithinLine.withLock { $0 } ? [lineFeed] + bytes : bytes
        guard let failure = text.withUnsafeBytes(writeBytes) else {
            endsWithinLine.withLock { $0 = false }
            return 0
        }
        if failure.writtenCount > 0 {
            let last = text[failure.writtenCount - 1]
            endsWithinLine.withLock { $0 = last != lineFeed }
        }
        // The line feed that would have ended a line that was cut off before is none of these lines'.
        return text[max(failure.writtenCount, text.count - bytes.count)...].count { $0 == lineFeed }
    }
}

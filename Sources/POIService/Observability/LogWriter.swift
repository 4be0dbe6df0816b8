import EventLoop

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Writes log lines to a descriptor on a thread of its own, so that a reader that stalls holds up no loop.
///
/// Any thread. What waits to be written is bounded; lines beyond that are dropped, and a line in their place
/// says how many they were.
public final class LogWriter: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        /// Since the last notice of them, and since the start.
        var droppedLines = 0
        var allDroppedLines = 0
        var isDraining = false
    }

    private let descriptor: Int32
    private let limit: Int
    private let droppedLinesNotice: @Sendable (Int) -> [UInt8]
    private let state = Lock(State())
    private let thread: EventLoopThread

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - descriptor: where lines go, standard error mostly; it stays the caller's.
    ///   - limit: the most bytes that wait.
    ///   - droppedLinesNotice: makes the line that tells of so many dropped ones.
    /// - Throws: `EventLoopError` where the system gives no thread.
    public init(
        descriptor: Int32, limit: Int = 1 << 20, droppedLinesNotice: @escaping @Sendable (Int) -> [UInt8]
    ) throws {
        self.descriptor = descriptor
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
                state.droppedLines += 1
                state.allDroppedLines += 1
            }
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if startsDraining { thread.loop.execute { self.drain() } }
    }

    /// Writes what waits and ends the thread. To be called once; it blocks.
    public func finish() {
        thread.stopAndJoin()
    }

    private func drain() {
        while true {
            let (bytes, droppedLines) = state.withLock { state in
                let taken = (state.waiting, state.droppedLines)
                state.waiting = []
                state.droppedLines = 0
                state.isDraining = !taken.0.isEmpty || taken.1 > 0
                return taken
            }
            if bytes.isEmpty && droppedLines == 0 { return }
            writeAll(bytes)
            if droppedLines > 0 { writeAll(droppedLinesNotice(droppedLines)) }
        }
    }

    /// Writes to the end, or not at all where the reader has gone: a log has nobody to complain to.
    private func writeAll(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
        Darwin.write(descriptor, bytes.baseAddress, bytes.count)
    #else
        Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    #endif
}

import Foundation

/// Reads the server's standard error: copies it to the log file and reports what the lines tell.
///
/// The stream's end is an event too: every process of the server has exited.
/// Unchecked, since NSCondition guards the state; Synchronization.Mutex has no condition to wait for.
final class ServerLog: @unchecked Sendable {
    /// What a primary says, and what a standby says.
    private static let readyLines = [
        "database system is ready to accept connections",
        "database system is ready to accept read-only connections",
    ]
    private static let tailLimit = 4096

    private let condition = NSCondition()
    private var isReady = false
    private var hasEnded = false
    private var tailBytes: [UInt8] = []

    /// Takes over both descriptors and reads on a thread of its own until the stream ends.
    /// A negative `file` stands for none.
    init(stream: Int32, file: Int32) {
        let thread = Thread { [self] in
            read(stream: stream, file: file)
            close(stream)
            if file >= 0 { close(file) }
            condition.withLock {
                hasEnded = true
                condition.broadcast()
            }
        }
        thread.name = "server log"
        thread.start()
    }

    /// Waits for the server to accept connections; false when it ended instead.
    func waitUntilReady() -> Bool {
        condition.withLock {
            while !isReady && !hasEnded { condition.wait() }
            return isReady && !hasEnded
        }
    }

    /// Waits until every process of the server has exited.
    func waitUntilEnded() {
        condition.withLock {
            while !hasEnded { condition.wait() }
        }
    }

    /// The last lines.
    var tail: String {
        let bytes = condition.withLock { tailBytes }
        return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func read(stream: Int32, file: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            #if canImport(Darwin)
                let count = Darwin.read(stream, &buffer, buffer.count)
            #else
                let count = Glibc.read(stream, &buffer, buffer.count)
            #endif
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            // A full disk, or a file that could not be opened, costs us the log and not the server.
            _ = write(file, buffer, count)
            append(buffer[..<count])
        }
    }

    private func append(_ bytes: ArraySlice<UInt8>) {
        condition.withLock {
            tailBytes += bytes
            if !isReady {
                let text = String(decoding: tailBytes, as: UTF8.self)
                isReady = Self.readyLines.contains(where: text.contains)
                if isReady { condition.broadcast() }
            }
            tailBytes.removeFirst(max(0, tailBytes.count - Self.tailLimit))
        }
    }
}

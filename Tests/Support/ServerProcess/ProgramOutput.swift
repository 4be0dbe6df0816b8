import Dispatch
import Foundation
import Locking

/// The lines that a program writes, as they come, and a way to wait for one of them.
package final class ProgramOutput: Sendable {
    /// Where a line was written.
    package enum Stream: String, Sendable {
        /// What others are to read.
        case standardOutput = "out"
        /// Its log and its complaints.
        case standardError = "err"
    }

    /// One line, without its line feed.
    package struct Line: Hashable, Sendable {
        /// Where it was written.
        package let stream: Stream
        /// What was written.
        package let text: String
    }

    private struct Waiter {
        let isAwaited: @Sendable (Line) -> Bool
        let continuation: CheckedContinuation<Line, any Error>
    }

    private struct State {
        var lines: [Line] = []
        var openStreams = 0
        var waiters: [UUID: Waiter] = [:]
    }

    private let state = Lock(State())

    /// All lines so far, in the order in which they arrived.
    package var lines: [Line] { state.withLock { $0.lines } }

    /// All lines so far as one text, to be shown with a failure or searched.
    package var text: String { lines.map { "\($0.stream.rawValue)| \($0.text)" }.joined(separator: "\n") }

    /// The lines of one stream so far.
    package func lines(of stream: Stream) -> [String] {
        lines.filter { $0.stream == stream }.map(\.text)
    }

    /// Waits for a line, also one that has come already, not counting the first `count` lines.
    ///
    /// - Throws: `ProgramFailure` with all output where the program ends first, or takes longer than
    ///   anything in order would.
    package func line(
        after count: Int = 0, where isAwaited: @escaping @Sendable (Line) -> Bool
    ) async throws -> Line {
        let id = UUID()
        return try await withCheckedThrowingContinuation { continuation in
            state.withLock { state in
                if let line = state.lines.dropFirst(count).first(where: isAwaited) {
                    continuation.resume(returning: line)
                } else if state.openStreams == 0 {
                    continuation.resume(throwing: failure("ended without the awaited line", state))
                } else {
                    state.waiters[id] = Waiter(isAwaited: isAwaited, continuation: continuation)
                }
            }
            TimeLimit.whenOver { [self] in
                state.withLock { state in
                    let waiter = state.waiters.removeValue(forKey: id)
                    waiter?.continuation.resume(throwing: failure("did not write the awaited line", state))
                }
            }
        }
    }

    /// Waits until so many lines are as awaited.
    package func lines(_ count: Int, where isAwaited: @escaping @Sendable (Line) -> Bool) async throws {
        let missing = Lock(count)
        // Every line is shown to this once.
        _ = try await line { line in
            guard isAwaited(line) else { return false }
            return missing.withLock { missing in
                missing -= 1
                return missing == 0
            }
        }
    }

    /// Reads a descriptor to its end, on a thread of its own; takes it over.
    func read(_ descriptor: Int32, as stream: Stream) {
        state.withLock { $0.openStreams += 1 }
        let thread = Thread { [self] in
            var unfinished: [UInt8] = []
            while let bytes = readSome(descriptor) {
                unfinished += bytes
                while let end = unfinished.firstIndex(of: UInt8(ascii: "\n")) {
                    append(Line(stream: stream, text: String(decoding: unfinished[..<end], as: UTF8.self)))
                    unfinished.removeSubrange(...end)
                }
            }
            if !unfinished.isEmpty {
                append(Line(stream: stream, text: String(decoding: unfinished, as: UTF8.self)))
            }
            close(descriptor)
            finish()
        }
        thread.start()
    }

    /// Waits until every stream has ended.
    func end() async throws {
        // No line is awaited: what ends the waiting is the end.
        do {
            _ = try await line(after: .max) { _ in false }
        } catch {
            if state.withLock({ $0.openStreams > 0 }) { throw error }
        }
    }

    private func append(_ line: Line) {
        state.withLock { state in
            state.lines.append(line)
            for (id, waiter) in state.waiters where waiter.isAwaited(line) {
                state.waiters[id] = nil
                waiter.continuation.resume(returning: line)
            }
        }
    }

    private func finish() {
        state.withLock { state in
            state.openStreams -= 1
            guard state.openStreams == 0 else { return }
            for waiter in state.waiters.values {
                waiter.continuation.resume(throwing: failure("ended without the awaited line", state))
            }
            state.waiters = [:]
        }
    }

    private func failure(_ reason: String, _ state: State) -> ProgramFailure {
        ProgramFailure(reason: reason, output: state.lines.map(\.text).joined(separator: "\n"))
    }
}

/// A program that did not do what a test waited for, with all that it wrote.
package struct ProgramFailure: Error, CustomStringConvertible {
    let reason: String
    let output: String

    /// The reason, and the output.
    package var description: String { "the program \(reason); it wrote:\n\(output)" }
}

/// How long tests wait for an event before they call it a failure, so that a test that fails doesn't hang.
private enum TimeLimit {
    private static let seconds = 60

    /// Calls `body` once a wait that starts now has been too long.
    static func whenOver(_ body: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds), execute: body)
    }
}

/// The next bytes of a descriptor; nil at its end.
private func readSome(_ descriptor: Int32) -> ArraySlice<UInt8>? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
        #if canImport(Darwin)
            let count = Darwin.read(descriptor, &buffer, buffer.count)
        #else
            let count = Glibc.read(descriptor, &buffer, buffer.count)
        #endif
        if count < 0 && errno == EINTR { continue }
        return count > 0 ? buffer[..<count] : nil
    }
}

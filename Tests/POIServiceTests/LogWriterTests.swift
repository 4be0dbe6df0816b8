import Locking
import Dispatch
import EventLoop
import Foundation
@testable import Program
import Testing

@testable import POIService
@testable import Telemetry

@Suite("The log's writer", .timeLimit(.minutes(1)))
struct LogWriterTests {
    @Test("The writer writes every line before it ends, and the lines of each thread in order")
    func completeness() async throws {
        let pipe = Pipe()
        let reading = readToEnd(pipe)
        let writer = try writer(to: pipe, limit: .max)
        await withTaskGroup(of: Void.self) { group in
            for author in 0..<4 {
                group.addTask {
                    for number in 0..<2000 { writer.write(Array("\(author) \(number)\n".utf8)) }
                }
            }
        }
        try await finish(writer)
        try pipe.fileHandleForWriting.close()
        let lines = try await reading.value
        #expect(lines.count == 8000)
        for author in 0..<4 {
            let own = lines.filter { $0.hasPrefix("\(author) ") }
            #expect(own == (0..<2000).map { "\(author) \($0)" })
        }
    }

    @Test(
        "The writer drops lines beyond its bound while nobody reads, counts them, and keeps the others in order"
    )
    func bound() async throws {
        let pipe = Pipe()
        let filled = fill(pipe)
        let writer = try writer(to: pipe, limit: 50)
        // Ten of these may wait, and up to ten may have been taken by the thread that can't write them.
        for number in 1000..<1100 { writer.write(Array("\(number)\n".utf8)) }
        let reading = readToEnd(pipe, skipping: filled)
        try await finish(writer)
        try pipe.fileHandleForWriting.close()
        let lines = try await reading.value
        let kept = lines.compactMap { Int($0) }
        let dropped = lines.compactMap { $0.hasPrefix("dropped ") ? Int($0.dropFirst(8)) : nil }
        #expect(kept.count + dropped.reduce(0, +) == 100)
        #expect((10...20).contains(kept.count))
        #expect(kept == kept.sorted())
        #expect(kept.first == 1000)
    }

    @Test("A reader that has gone blocks nothing, and the lost lines are counted")
    func brokenPipe() throws {
        let pipe = Pipe()
        let writer = try writer(to: pipe, limit: .max)
        try pipe.fileHandleForReading.close()
        for _ in 0..<100 { writer.write(Array("line\n".utf8)) }
        #expect(writer.finish(within: .seconds(60)))
        #expect(writer.droppedLineCount == 100)
    }

    @Test(
        "A line that is cut off is counted; when there is room again, lines are whole and the loss is logged")
    func fullDisk() throws {
        let disk = Disk()
        let writer = try LogWriter(
            limit: .max, droppedLinesNotice: { Array("dropped \($0)\n".utf8) }, writeBytes: disk.write)
        // The notice is a write of its own.
        for (room, line, writes) in [
            (100, "first\n", 1), (10, "second\ncut off\n", 1), (0, "lost\n", 1), (100, "third\n", 2),
            (100, "fourth\n", 1),
        ] {
            disk.setRoom(room)
            writer.write(Array(line.utf8))
            for _ in 0..<writes { disk.waitForWrite() }
        }
        #expect(writer.finish(within: .seconds(60)))
        #expect(disk.text == "first\nsecond\ncut\nthird\ndropped 2\nfourth\n")
        #expect(writer.droppedLineCount == 2)
    }

    @Test("A stalled reader doesn't block the end")
    func stalledReader() throws {
        let pipe = Pipe()
        _ = fill(pipe)
        let writer = try writer(to: pipe, limit: .max)
        writer.write(Array("line\n".utf8))
        #expect(!writer.finish(within: .milliseconds(1)))
        // A thread left behind would write to whatever gets the descriptor's number next.
        try pipe.fileHandleForReading.close()
        #expect(writer.finish(within: .seconds(60)))
    }

    @Test("The writer waits until a non-blocking descriptor has room")
    func nonBlocking() async throws {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        let filled = fill(pipe)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        let writer = try writer(to: pipe, limit: .max)
        for number in 0..<1000 { writer.write(Array("line \(number)\n".utf8)) }
        let reading = readToEnd(pipe, skipping: filled)
        try await finish(writer)
        try pipe.fileHandleForWriting.close()
        #expect(try await reading.value.count == 1000)
        #expect(writer.droppedLineCount == 0)
    }

    /// Ends the writer on a thread that may block: it waits for the reader, which needs one of the pool's.
    private func finish(_ writer: LogWriter) async throws {
        let thread = BlockingThread(name: "log-finish", capacity: 1)
        defer { thread.shutdown() }
        #expect(try await thread.run { writer.finish(within: .seconds(60)) })
    }

    private func writer(to pipe: Pipe, limit: Int) throws -> LogWriter {
        try LogWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor, limit: limit) { count in
            Array("dropped \(count)\n".utf8)
        }
    }

    /// Fills a pipe until it has no more room, and returns the number of bytes.
    private func fill(_ pipe: Pipe) -> Int {
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        var filled = 0
        while write(descriptor, ".", 1) == 1 { filled += 1 }
        _ = fcntl(descriptor, F_SETFL, flags)
        return filled
    }

    /// Reads lines to the end, on a thread that may block.
    private func readToEnd(_ pipe: Pipe, skipping count: Int = 0) -> Task<[Substring], any Error> {
        let reader = pipe.fileHandleForReading
        return Task {
            let thread = BlockingThread(name: "log-reader", capacity: 1)
            defer { thread.shutdown() }
            let data = try await thread.run { try reader.readToEnd() ?? Data() }
            return String(decoding: data.dropFirst(count), as: UTF8.self).split(separator: "\n")
        }
    }
}

/// A disk with little room.
private final class Disk: Sendable {
    private let state = Lock((text: [UInt8](), room: 0))
    private let written = DispatchSemaphore(value: 0)

    var text: String { state.withLock { String(decoding: $0.text, as: UTF8.self) } }

    func setRoom(_ room: Int) { state.withLock { $0.room = room } }

    /// Waits for the end of one more write.
    func waitForWrite() { written.wait() }

    func write(_ bytes: [UInt8]) -> DescriptorOutput.Failure? {
        defer { written.signal() }
        return state.withLock { state in
            let count = min(bytes.count, state.room)
            state.text += bytes.prefix(count)
            state.room -= count
            return count < bytes.count ? DescriptorOutput.Failure(writtenCount: count, code: ENOSPC) : nil
        }
    }
}

import EventLoop
import Foundation
import Testing

@testable import POIService

@Suite("The log's writer", .timeLimit(.minutes(1)))
struct LogWriterTests {
    @Test("Writes every line before it ends, those of each thread in their order")
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

    @Test("Drops what exceeds its bound while nobody reads, says how much, and keeps the rest in order")
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

    @Test("A reader that has gone stops nobody")
    func brokenPipe() throws {
        let pipe = Pipe()
        let writer = try writer(to: pipe, limit: 1000)
        try pipe.fileHandleForReading.close()
        for _ in 0..<100 { writer.write(Array("line\n".utf8)) }
        writer.finish()
    }

    /// Ends the writer on a thread that may block: it waits for the reader, which needs one of the pool's.
    private func finish(_ writer: LogWriter) async throws {
        let thread = BlockingThread(name: "log-finish", capacity: 1)
        defer { thread.shutdown() }
        try await thread.run { writer.finish() }
    }

    private func writer(to pipe: Pipe, limit: Int) throws -> LogWriter {
        try LogWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor, limit: limit) { count in
            Array("dropped \(count)\n".utf8)
        }
    }

    /// Fills a pipe until it takes no more; answers with how many bytes.
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

import Bytes
import Dispatch
import EventLoop
import Locking
import Testing

@testable import HTTPServer
@testable import POIService
@testable import Telemetry

@Suite("The log of requests", .timeLimit(.minutes(1)))
struct AccessLogTests {
    /// Where a log's thread writes.
    private final class Sink: Sendable {
        private let bytes = Lock<[UInt8]>([])
        private let written = DispatchSemaphore(value: 0)

        var lines: [Substring] {
            String(decoding: bytes.withLock { $0 }, as: UTF8.self).split(separator: "\n")
        }

        func writer() throws -> LogWriter {
            try LogWriter(limit: .max, droppedLinesNotice: { _ in [] }) { [self] bytes in
                self.bytes.withLock { $0.append(contentsOf: bytes) }
                written.signal()
                return nil
            }
        }

        /// Waits until something was written.
        func wait() { written.wait() }
    }

    private static func observation(_ number: Int) -> RequestObservation {
        RequestObservation(
            method: .get, path: "/locations/\(number)", routeTemplate: "/locations/{id}", status: .ok,
            duration: .microseconds(1250), requestBodyBytes: 0, responseBytes: 99, requestID: "id-\(number)",
            traceParent: nil, remoteAddress: "127.0.0.1", logNotes: [("center", "1,2"), ("odd", "a\"b\n")])
    }

    /// Runs `body` on a loop with a log, and returns the lines that were written.
    private static func lines(
        waits: Bool = false, _ body: @escaping @Sendable (AccessLog) -> Void
    ) async throws -> [Substring] {
        let sink = Sink()
        let writer = try sink.writer()
        let thread = try EventLoopThread.start(name: "access-log")
        let log = try await thread.loop.submit {
            let log = AccessLog(
                loop: thread.loop, writer: writer, formatter: RequestLogFormatter(isJSON: true))
            body(log)
            return LoopBound(log, loop: thread.loop)
        }
        if waits { sink.wait() }
        try await thread.loop.submit { log.value.close() }
        #expect(thread.stopAndJoin() == 0)
        #expect(writer.finish(within: .seconds(60)))
        return sink.lines
    }

    @Test("A line is written soon, though no other request follows")
    func soon() async throws {
        let lines = try await Self.lines(waits: true) { $0.record(Self.observation(1)) }
        #expect(lines.count == 1)
        #expect(
            lines[0].hasSuffix(
                #","level":"info","event":"request","method":"GET","path":"/locations/1","route":"/locations/{id}","#
                    + #""status":200,"durationMs":1.25,"requestBytes":0,"responseBytes":99,"requestId":"id-1","#
                    + #""client":"127.0.0.1","center":"1,2","odd":"a\"b\n"}"#))
    }

    @Test("No line is lost at the end, and all are in order, however many there are")
    func complete() async throws {
        let lines = try await Self.lines { log in
            for number in 0..<1000 { log.record(Self.observation(number)) }
        }
        #expect(lines.count == 1000)
        for (number, line) in lines.enumerated() { #expect(line.contains(#""requestId":"id-\#(number)""#)) }
    }

    @Test("Times follow the wall clock over seconds, to the millisecond")
    func times() {
        var clock = LogClock()
        clock.set(1_795_224_933_250_999_999, at: 5)
        for (nanoseconds, text) in [
            (5, "2026-11-21T01:35:33.250Z"), (6, "2026-11-21T01:35:33.251Z"),
            (748_999_999, "2026-11-21T01:35:33.999Z"), (749_000_006, "2026-11-21T01:35:34.000Z"),
            (5, "2026-11-21T01:35:33.250Z"), (86_400_000_000_005, "2026-11-22T01:35:33.250Z"),
        ] as [(Int64, String)] {
            var buffer = ByteBuffer()
            clock.append(nanoseconds, to: &buffer)
            #expect(buffer.text == text)
        }
    }

    @Test(
        "Thousandths are written as JSON numbers",
        arguments: [0, 1, 10, 100, 999, 1000, 1001, 1250, 123_456_789])
    func thousandths(number: UInt64) {
        var buffer = ByteBuffer()
        buffer.append(thousandths: number)
        let text = buffer.text
        #expect(Double(text) == Double(number) / 1000)
        #expect(!text.contains(".") || text.last != "0")
    }
}

import Loopback
import Testing

@testable import EventLoop

/// What a server's stream reports.
private enum Report: Equatable {
    case end
    case error
}

@Suite("Peers that have ended their side", .timeLimit(.minutes(1)))
struct ResetWatchTests {
    /// Runs a server that writes a few bytes once its peer's end was read, and reports what follows.
    private func serve(_ body: (Server, WireClient, AsyncStream<Report>) async throws -> Void) async throws {
        try await withLoop { loop in
            let (reports, feed) = AsyncStream<Report>.makeStream()
            let server = try await Server.start(on: loop) { stream in
                stream.onEnd = {
                    feed.yield(.end)
                    stream.watchForReset()
                    stream.watchForReset()
                    stream.write(Array("still there?".utf8))
                }
                stream.onError = { _ in
                    feed.yield(.error)
                    stream.close()
                }
                stream.startReading()
            }
            try await body(server, WireClient(port: server.port), reports)
            try await server.stop()
        }
    }

    @Test("A peer that has closed the connection is found to be gone after a write")
    func closed() async throws {
        try await serve { _, client, reports in
            client.close()
            var events = reports.makeAsyncIterator()
            #expect(await events.next() == .end)
            #expect(await events.next() == .error)
        }
    }

    @Test("A peer that has only stopped sending gets the written bytes, and counts as gone once it resets")
    func stoppedSending() async throws {
        try await serve { _, client, reports in
            client.finishSending()
            let received = try client.receive(count: 12)
            #expect(received == Array("still there?".utf8))
            client.reset()
            var events = reports.makeAsyncIterator()
            #expect(await events.next() == .end)
            #expect(await events.next() == .error)
        }
    }
}

import Loopback
import Testing

@testable import EventLoop

/// What a server's stream tells behind its peer's end.
private enum Told: Equatable {
    case end
    case error
}

@Suite("Behind its end, a peer", .timeLimit(.minutes(1)))
struct ResetWatchTests {
    /// A server that writes a few bytes once its peer's end was read, and tells what becomes of that.
    private func serve(_ body: (Server, WireClient, AsyncStream<Told>) async throws -> Void) async throws {
        try await withLoop { loop in
            let (told, tell) = AsyncStream<Told>.makeStream()
            let server = try await Server.start(on: loop) { stream in
                stream.onEnd = {
                    tell.yield(.end)
                    stream.watchForReset()
                    stream.watchForReset()
                    stream.write(Array("still there?".utf8))
                }
                stream.onError = { _ in
                    tell.yield(.error)
                    stream.close()
                }
                stream.startReading()
            }
            try await body(server, WireClient(port: server.port), told)
            try await server.stop()
        }
    }

    @Test("that has closed is found to be gone by what is written to it")
    func closed() async throws {
        try await serve { _, client, told in
            client.close()
            var events = told.makeAsyncIterator()
            #expect(await events.next() == .end)
            #expect(await events.next() == .error)
        }
    }

    @Test("that has only stopped sending gets what is written, and is found to be gone once it resets")
    func stoppedSending() async throws {
        try await serve { _, client, told in
            client.finishSending()
            let received = try client.receive(count: 12)
            #expect(received == Array("still there?".utf8))
            client.reset()
            var events = told.makeAsyncIterator()
            #expect(await events.next() == .end)
            #expect(await events.next() == .error)
        }
    }
}

import Foundation
import HTTPServer
import Loopback
import Testing

@Suite("Hostile, slow and departing clients on the wire")
struct WireLimitTests {
    @Test(
        "A server lets a client that sends far too much read the response",
        arguments: [
            ("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4194304\r\n\r\n", "413 Content Too Large"),
            ("GET /", "414 URI Too Long"),
            ("GET / HTTP/1.1\r\nHost: h\r\nX: ", "431 Request Header Fields Too Large"),
        ])
    func lingers(start: String, status: String) async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            let bytes = Array(start.utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: 4 << 20)
            #expect(client.send(bytes) == bytes.count, "all of it is taken")
            #expect(try client.receiveAll().hasPrefix("HTTP/1.1 \(status)\r\n"))
        }
    }

    @Test("A server stops lingering after its limit of bytes")
    func lingeringIsBounded() async throws {
        let limits = HTTPLimits(lingerBytes: 1 << 16)
        try await WireServer.run(HTTPServerConfiguration(limits: limits)) { server in
            let client = try WireClient(port: server.port)
            client.send("nonsense\r\n\r\n")
            _ = try client.receiveResponse()
            let block = [UInt8](repeating: 0, count: 1 << 16)
            while client.send(block) == block.count {}
            client.close()
        }
    }

    @Test(
        "A server responds to a late header block with 408",
        arguments: ["", "\r\n", "GET /hello HT", "GET /hello HTTP/1.1\r\nHost: h\r\n"])
    func lateHead(start: String) async throws {
        let timeouts = HTTPTimeouts(head: .milliseconds(50))
        try await WireServer.run(HTTPServerConfiguration(timeouts: timeouts)) { server in
            let client = try WireClient(port: server.port)
            client.send(start)
            #expect(
                try client.receiveAll()
                    == ExpectedResponse.error(
                        "408 Request Timeout", "The header block did not arrive in time."))
        }
    }

    @Test("A server has no deadline for a header block while a handler runs or the connection is idle")
    func clearedDeadline() async throws {
        let timeouts = HTTPTimeouts(head: .milliseconds(300))
        try await WireServer.run(HTTPServerConfiguration(timeouts: timeouts)) { server in
            let idle = try await server.connect(sending: WireRequest.hello)
            #expect(try idle.receiveResponse() == ExpectedResponse.hello)
            let busy = try await server.connect(sending: WireRequest.gated)
            await server.gate.arrivals()
            try waitForHeadTimeout(server)
            server.gate.open()
            #expect(try busy.receiveResponse() == ExpectedResponse.gated)
            idle.send(WireRequest.hello)
            #expect(try idle.receiveResponse() == ExpectedResponse.hello)
            idle.close()
            busy.close()
        }
    }

    /// Waits until a connection that came later has had its time, so that all earlier ones have as well.
    private func waitForHeadTimeout(_ server: WireServer) throws {
        let clock = try WireClient(port: server.port)
        #expect(try clock.receiveAll().hasPrefix("HTTP/1.1 408 "))
    }

    @Test("A server makes no further response for a client that doesn't read, and finally resets it")
    func stalledReader() async throws {
        let timeouts = HTTPTimeouts(write: .milliseconds(100))
        try await WireServer.run(HTTPServerConfiguration(timeouts: timeouts)) { server in
            let client = try WireClient(port: server.port, receiveBuffer: 4096)
            client.send(String(repeating: "GET /big HTTP/1.1\r\nHost: h\r\n\r\n", count: 3))
            // Its connection may be gone again before anybody looks.
            while server.calls.withLock({ $0 }) == 0 {
                try Task.checkCancellation()
                await Task.yield()
            }
            try await server.closesConnections()
            #expect(server.calls.withLock { $0 } == 1, "the second response waits for the first one's reader")
            #expect(try client.ending() == .reset)
            client.close()
        }
    }

    @Test("A server keeps serving a client that reads slowly, response by response")
    func slowReader() async throws {
        // A response of 16 MiB is more than a client may have wait.
        try await WireServer.run(HTTPServerConfiguration(memory: ClientMemory(limit: 1 << 30))) { server in
            let client = try WireClient(port: server.port)
            client.send(
                String(repeating: "GET /big HTTP/1.1\r\nHost: h\r\n\r\n", count: 3) + WireRequest.hello)
            for _ in 0..<3 {
                #expect(try client.receiveMessage(isHead: false).body.count == WireServer.bigBody.count)
            }
            #expect(try client.receiveResponse() == ExpectedResponse.hello)
            client.close()
        }
    }

    @Test("A server stops reading from a client that sends too much at once, and reads all of it in the end")
    func boundedPipeline() async throws {
        try await WireServer.run { server in
            let client = try WireClient(port: server.port)
            client.send(WireRequest.gated)
            await server.gate.arrivals()
            let count = 20_000
            // Not a task: the test blocks one of the pool's threads, and there may be no other.
            Thread.detachNewThread {
                client.send(String(repeating: WireRequest.hello, count: count))
                client.finishSending()
            }
            server.gate.open()
            #expect(try client.receiveResponse() == ExpectedResponse.gated)
            #expect(try client.receiveCount() == count * ExpectedResponse.helloLength)
            #expect(server.calls.withLock { $0 } == count)
            client.close()
        }
    }
}

import Foundation
import Locking
import Loopback
import Testing

@testable import EventLoop

@Suite("TCP", .timeLimit(.minutes(1)))
struct TCPTests {
    @Test("A stream reads what a peer sends, and reports its end")
    func echo() async throws {
        try await withLoop { loop in
            let server = try await Server.start(on: loop) { stream in
                stream.onRead = { bytes in stream.write(bytes) }
                stream.onEnd = {
                    stream.shutdownWriting()
                    stream.close()
                }
                stream.startReading()
            }
            let client = try WireClient(port: server.port)
            client.send(Array("hello".utf8))
            client.finishSending()
            #expect(try client.receiveBytes() == Array("hello".utf8))
            try await server.stop()
        }
    }

    @Test("Sixteen megabytes reach a peer that reads slowly, in order, and onDrained is called")
    func largeWrite() async throws {
        let payload = (0..<(16 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        try await withLoop { loop in
            let queued = Lock<[Int]>([])
            let (written, feed) = AsyncStream.makeStream(of: Void.self)
            let server = try await Server.start(on: loop) { stream in
                stream.onDrained = {
                    queued.withLock { $0.append(stream.queuedWriteBytes) }
                    stream.close()
                }
                stream.write(payload)
                queued.withLock { $0.append(stream.queuedWriteBytes) }
                feed.finish()
            }
            let client = try WireClient(port: server.port)
            // Not before: a peer that reads along might take it all at once, and nothing would be queued.
            for await _ in written {}
            #expect(try client.receiveBytes() == payload)
            try await server.stop()
            let counts = queued.withLock { $0 }
            #expect(counts.count == 2)
            #expect((counts.first ?? 0) > 0, "the peer's window should not hold it all")
            #expect(counts.last == 0)
        }
    }

    @Test("A stream that stops reading holds its peer back")
    func backPressure() async throws {
        try await withLoop { loop in
            let read = Lock(0)
            let streams = Lock<LoopBound<TCPStream>?>(nil)
            let server = try await Server.start(on: loop) { stream in
                stream.onRead = { bytes in
                    read.withLock { $0 += bytes.byteCount }
                    stream.stopReading()
                }
                stream.onEnd = { stream.close() }
                stream.startReading()
                streams.withLock { $0 = LoopBound(stream, loop: loop) }
            }
            let client = try WireClient(port: server.port)
            let sent = client.sendUntilFull()
            try await loop.submit {}
            #expect(read.withLock { $0 } <= 64 * 1024)
            #expect(sent > 64 * 1024)
            client.finishSending()
            try await loop.submit {
                guard let stream = streams.withLock({ $0 })?.value else { return }
                stream.onRead = { bytes in read.withLock { $0 += bytes.byteCount } }
                stream.startReading()
            }
            #expect(try client.receiveBytes() == [])
            #expect(read.withLock { $0 } == sent)
            try await server.stop()
        }
    }

    @Test("A reset connection is reported once, as ECONNRESET")
    func peerResets() async throws {
        try await withLoop { loop in
            let (errors, feed) = AsyncStream.makeStream(of: EventLoopError.self)
            let server = try await Server.start(on: loop) { stream in
                stream.onError = { error in
                    feed.yield(error)
                    stream.close()
                    feed.finish()
                }
                stream.startReading()
            }
            try WireClient(port: server.port).reset()
            var names: [String] = []
            for await error in errors { names.append(error.name) }
            #expect(names == ["ECONNRESET"])
            try await server.stop()
        }
    }

    @Test("A peer sees a reset after reset()")
    func weReset() async throws {
        try await withLoop { loop in
            let server = try await Server.start(on: loop) { $0.reset() }
            #expect(try WireClient(port: server.port).ending() == .reset)
            try await server.stop()
        }
    }

    @Test("Writing to a peer that is gone is an error of the stream, not a signal")
    func brokenPipe() async throws {
        try await withLoop { loop in
            let (errors, feed) = AsyncStream.makeStream(of: EventLoopError.self)
            let server = try await Server.start(on: loop) { stream in
                stream.onEnd = { for _ in 0..<100 { stream.write(Array(repeating: 0, count: 1 << 16)) } }
                stream.onError = { error in
                    feed.yield(error)
                    feed.finish()
                    stream.close()
                }
                stream.startReading()
            }
            try WireClient(port: server.port).close()
            var names: [String] = []
            for await error in errors { names.append(error.name) }
            #expect(names == ["EPIPE"] || names == ["ECONNRESET"])
            try await server.stop()
        }
    }

    @Test("Connections that are queued when the listener closes are accepted, and can be read from")
    func closeAcceptsWaiting() async throws {
        try await withLoop { loop in
            let server = try await Server.start(on: loop) { stream in
                stream.onRead = { bytes in
                    stream.write(bytes)
                    stream.close()
                }
                stream.startReading()
            }
            let clients = Lock<[WireClient]>([])
            try await server.stop {
                // The loop is busy with this, so it can't have accepted them.
                for _ in 0..<10 {
                    let client = try WireClient(port: server.port)
                    client.send([1])
                    clients.withLock { $0.append(client) }
                }
            }
            for client in clients.withLock({ $0 }) { #expect(try client.receiveBytes() == [1]) }
        }
    }

    @Test("A stream knows whether there are unread bytes")
    func unreadInput() async throws {
        try await withLoop { loop in
            let (states, feed) = AsyncStream.makeStream(of: [Bool].self)
            let client = Lock<WireClient?>(nil)
            let server = try await Server.start(on: loop) { stream in
                let before = stream.hasUnreadInput
                client.withLock { $0 }?.send([1])
                let after = stream.hasUnreadInput
                stream.onRead = { _ in
                    feed.yield([before, after, stream.hasUnreadInput])
                    stream.close()
                }
                stream.startReading()
            }
            // On the loop: it accepts when this has been noted.
            try await loop.submit {
                let peer = try WireClient(port: server.port)
                client.withLock { $0 = peer }
            }
            for await state in states {
                #expect(state == [false, true, false])
                break
            }
            try await server.stop()
        }
    }

    @Test("A stream knows its peer's address")
    func remoteAddress() async throws {
        try await withLoop { loop in
            let address = Lock<String?>(nil)
            let server = try await Server.start(on: loop) { stream in
                address.withLock { $0 = stream.remoteAddress }
                stream.close()
            }
            #expect(try WireClient(port: server.port).receiveBytes() == [])
            #expect(address.withLock { $0 } == "127.0.0.1")
            try await server.stop()
        }
    }

    @Test("A port in use is refused, also if several loops would share it")
    func addressInUse() async throws {
        try await withLoop { loop in
            let server = try await Server.start(on: loop) { $0.close() }
            for count in [1, 2] {
                let error = #expect(throws: EventLoopError.self) {
                    try BoundSocket.bind(host: "127.0.0.1", port: server.port, count: count)
                }
                #expect(error?.name == "EADDRINUSE")
            }
            try await server.stop()
        }
    }

    @Test("Several sockets share one port that the system chose")
    func sharedPort() throws {
        let sockets = try BoundSocket.bind(host: "127.0.0.1", port: 0, count: 3)
        #expect(Set(sockets.map(\.port)).count == 1)
        for socket in sockets { socket.close() }
    }

    @Test("An impossible address is an error", arguments: [("no such host", 0), ("127.0.0.1", 65536)])
    func impossibleAddress(host: String, port: Int) {
        #expect(throws: EventLoopError.self) { try BoundSocket.bind(host: host, port: port) }
    }
}

/// A listener on a loop, for tests off the loop.
struct Server {
    let port: Int
    private let listener: LoopBound<TCPListener>

    static func start(
        on loop: EventLoop, _ onConnection: @escaping @Sendable (TCPStream) -> Void
    ) async throws -> Server {
        try await loop.submit {
            let socket = try BoundSocket.bind(host: "127.0.0.1", port: 0)[0]
            let listener = try TCPListener(loop: loop, socket: socket, onConnection: onConnection)
            return Server(port: listener.port, listener: LoopBound(listener, loop: loop))
        }
    }

    /// - Parameter before: what happens right before, on the loop.
    func stop(before: @escaping @Sendable () throws -> Void = {}) async throws {
        try await listener.loop.submit {
            try before()
            listener.value.close()
        }
    }
}

@Suite("Unix sockets")
struct UnixSocketTests {
    private static func path() -> String { "/tmp/poi-\(UUID().uuidString.prefix(8)).sock" }

    @Test("Only unix: and an absolute path is the address of a Unix socket")
    func hosts() {
        #expect(UnixSocketAddress(host: "unix:/run/poi.sock")?.path == "/run/poi.sock")
        for host in [
            "127.0.0.1", "unix:", "unix:poi.sock", "/run/poi.sock",
            "unix:/" + String(repeating: "a", count: 107),
        ] {
            #expect(UnixSocketAddress(host: host) == nil, "\(host)")
        }
    }

    @Test("A Unix socket is bound once; a socket file that was left behind is replaced, another file never")
    func binding() throws {
        let path = Self.path()
        defer { unlink(path) }
        let first = try BoundSocket.bind(host: "unix:\(path)", port: 0, count: 2)
        #expect(first.map(\.port) == [0, 0])
        for socket in first { socket.close() }
        // Nobody listens on the file that is left.
        let second = try BoundSocket.bind(host: "unix:\(path)", port: 0)
        let thread = try EventLoopThread.start(name: "unix")
        let loop = thread.loop
        let done = DispatchSemaphore(value: 0)
        let listener = Listener()
        loop.execute {
            listener.listen(on: loop, second[0])
            done.signal()
        }
        done.wait()
        let error = #expect(throws: EventLoopError.self) {
            try BoundSocket.bind(host: "unix:\(path)", port: 0)
        }
        #expect(error?.name == "EADDRINUSE")
        loop.execute { listener.close() }
        #expect(thread.stopAndJoin() == 0)
        unlink(path)
        try Data("precious".utf8).write(to: URL(filePath: path))
        #expect(throws: EventLoopError.self) { try BoundSocket.bind(host: "unix:\(path)", port: 0) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test("The file of a Unix socket has its mode and group before anybody can connect")
    func permissions() throws {
        let path = Self.path()
        defer { unlink(path) }
        // Another group than the process's, where it may choose.
        let group: gid_t = getuid() == 0 ? 1 : getgid()
        let sockets = try BoundSocket.bind(
            host: "unix:\(path)", port: 0, permissions: UnixSocketPermissions(mode: 0o626, group: group))
        defer { for socket in sockets { socket.close() } }
        var status = stat()
        try #require(lstat(path, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o626)
        #expect(status.st_gid == group)
        // It doesn't listen yet.
        #expect(throws: EventLoopError.self) { try UnixSocketAddress(host: "unix:\(path)")?.connect() }
    }

    @Test("A socket file of another kind stays: connecting to it doesn't tell that its process is gone")
    func otherKind() throws {
        let path = Self.path()
        defer { unlink(path) }
        #if canImport(Darwin)
            let datagrams = socket(AF_UNIX, SOCK_DGRAM, 0)
        #else
            let datagrams = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #endif
        try #require(datagrams >= 0)
        defer { close(datagrams) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(datagrams, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0)
        let error = #expect(throws: EventLoopError.self) {
            try BoundSocket.bind(host: "unix:\(path)", port: 0)
        }
        #expect(error?.name == "EADDRINUSE")
        #expect(FileManager.default.fileExists(atPath: path))
    }

    /// Unchecked: its loop's alone.
    private final class Listener: @unchecked Sendable {
        private var listener: TCPListener?

        func listen(on loop: EventLoop, _ socket: BoundSocket) {
            listener = try? TCPListener(loop: loop, socket: socket) { $0.close() }
        }

        func close() { listener?.close() }
    }
}

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

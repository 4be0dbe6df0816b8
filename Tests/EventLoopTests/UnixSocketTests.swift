import EventLoop
import Foundation
import Testing

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

    /// Unchecked: its loop's alone.
    private final class Listener: @unchecked Sendable {
        private var listener: TCPListener?

        func listen(on loop: EventLoop, _ socket: BoundSocket) {
            listener = try? TCPListener(loop: loop, socket: socket) { $0.close() }
        }

        func close() { listener?.close() }
    }
}

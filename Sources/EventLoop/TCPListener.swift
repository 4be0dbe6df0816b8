import CLibUV

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Accepts TCP connections on a loop. Confined to the loop's thread.
package final class TCPListener {
    package let port: Int

    private let box: HandleBox<uv_tcp_t, TCPListener>
    private let onConnection: (TCPStream) -> Void
    private let onFailure: (EventLoopError) -> Void

    /// Listens on a bound socket, and owns it from now on: also where it throws, after it has closed the socket.
    ///
    /// - Parameters:
    ///   - backlog: maximum number of connections that the system queues until they are accepted (listen(2)).
    ///   - onConnection: gets each connection. It owns the connection and must close it.
    package init(
        loop: EventLoop, socket: BoundSocket, backlog: Int32 = 1024,
        onFailure: @escaping (EventLoopError) -> Void = { _ in },
        onConnection: @escaping (TCPStream) -> Void
    ) throws {
        do {
            box = try HandleBox(loop: loop, uv_tcp_init)
        } catch {
            socket.close()
            throw error
        }
        port = socket.port
        self.onConnection = onConnection
        self.onFailure = onFailure
        do {
            try EventLoopError.check(uv_tcp_open(box.raw, socket.descriptor))
        } catch {
            socket.close()
            box.close()
            throw error
        }
        box.attach(self)
        let status = uv_listen(Self.stream(box.raw), backlog) { stream, status in
            TCPListener.owner(of: stream)?.connectionIsWaiting(status: status)
        }
        guard status == 0 else {
            box.close()
            throw EventLoopError(code: status)
        }
    }

    /// Stops listening. Accepted connections stay open. Queued ones are accepted first: their clients are connected
    /// already and may have sent a request, and the system would reset them.
    package func close(_ onClosed: (() -> Void)? = nil) {
        acceptQueued()
        box.close(onClosed)
    }

    /// Accepts the connections that the system has queued. libuv would do so only when the loop polls for events again.
    private func acceptQueued() {
        var socket: uv_os_fd_t = -1
        guard box.isOpen, uv_fileno(box.handle, &socket) == 0 else { return }
        while true {
            // libuv has made the socket non-blocking.
            let descriptor = accept(socket, nil, nil)
            if descriptor < 0 && (errno == EINTR || errno == ECONNABORTED) { continue }
            guard descriptor >= 0 else { return }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            guard let stream = try? TCPStream(loop: box.loop) else {
                closeDescriptor(descriptor)
                return
            }
            if stream.adopt(descriptor) {
                onConnection(stream)
            } else {
                stream.close()
            }
        }
    }

    private func connectionIsWaiting(status: Int32) {
        // A failed accept concerns one connection only. On EMFILE libuv itself drops connections.
        guard status == 0 else { return onFailure(EventLoopError(code: status)) }
        guard let stream = try? TCPStream(loop: box.loop) else { return }
        if stream.accept(from: Self.stream(box.raw)) {
            onConnection(stream)
        } else {
            stream.close()
        }
    }

    private static func stream(_ raw: UnsafeMutablePointer<uv_tcp_t>) -> UnsafeMutablePointer<uv_stream_t> {
        UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_stream_t.self)
    }

    private static func owner(of stream: UnsafeMutablePointer<uv_stream_t>?) -> TCPListener? {
        HandleBox<uv_tcp_t, TCPListener>.owner(
            of: UnsafeMutableRawPointer(stream)?.assumingMemoryBound(to: uv_tcp_t.self))
    }
}

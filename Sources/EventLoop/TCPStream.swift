import CLibUV

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An accepted connection of TCP, or of a socket of the file system, which libuv treats alike.
///
/// Confined to its loop's thread, like its callbacks. Whoever got it from a listener owns it: it
/// stays open, and in memory, until `close()` or `reset()`.
public final class TCPStream {
    /// Gets what was read; the bytes are valid during the call only.
    public var onRead: ((UnsafeRawBufferPointer) -> Void)?
    /// The peer has sent all that it will send (FIN). Nothing is read after it.
    public var onEnd: (() -> Void)?
    /// Reading or writing failed (`ECONNRESET`, `EPIPE`, …), told once. The owner still has to close.
    public var onError: ((EventLoopError) -> Void)?
    /// All that waited to be written has been handed to the system.
    public var onDrained: (() -> Void)?

    /// How many bytes wait because the peer doesn't read.
    public private(set) var queuedWriteBytes = 0

    private let box: HandleBox<uv_tcp_t, TCPStream>
    private var hasFailed = false
    private var isReading = false
    private var resetWatch: ResetWatch?

    /// The most that one system call writes: `uv_try_write` answers a count as a C int.
    private static let writeLimit = 1 << 30

    init(loop: EventLoop) throws(EventLoopError) {
        box = try HandleBox(loop: loop, uv_tcp_init)
        box.attach(self)
    }

    /// The loop whose thread owns the stream.
    public var loop: EventLoop { box.loop }

    func accept(from listener: UnsafeMutablePointer<uv_stream_t>) -> Bool {
        guard uv_accept(listener, stream) == 0 else { return false }
        // Answers are written whole: waiting to fill a segment would only delay them (tcp(7)).
        uv_tcp_nodelay(box.raw, 1)
        return true
    }

    /// Takes over a connection that was accepted without libuv; closes it where that fails.
    func adopt(_ descriptor: Int32) -> Bool {
        guard uv_tcp_open(box.raw, descriptor) == 0 else {
            closeDescriptor(descriptor)
            return false
        }
        uv_tcp_nodelay(box.raw, 1)
        return true
    }

    // MARK: Reading

    /// The system's number of the connection; nil once it is closed.
    public var descriptor: Int32? {
        var socket: uv_os_fd_t = -1
        guard box.isOpen, uv_fileno(box.handle, &socket) == 0 else { return nil }
        return socket
    }

    /// Whether bytes have come in that nobody has read yet.
    public var hasUnreadInput: Bool {
        guard let socket = descriptor else { return false }
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    /// Reads, and calls `onRead` with what comes, until `stopReading()`.
    public func startReading() {
        guard box.isOpen, !isReading, !hasFailed else { return }
        isReading = true
        let status = uv_read_start(
            stream,
            { handle, _, buffer in
                // The loop's one buffer: a read is delivered before the next one starts.
                guard let stream = TCPStream.owner(ofHandle: handle) else { return }
                let memory = stream.loop.readBuffer
                buffer?.pointee.base = memory.baseAddress?.assumingMemoryBound(to: CChar.self)
                buffer?.pointee.len = memory.count
            },
            { handle, count, buffer in
                let bytes = UnsafeRawPointer(buffer?.pointee.base)
                TCPStream.owner(of: handle)?.didRead(count: count, bytes: bytes)
            })
        if status < 0 { fail(status) }
    }

    /// Stops reading; the peer is held back by TCP's window once the system's buffers are full.
    public func stopReading() {
        guard box.isOpen, isReading else { return }
        isReading = false
        uv_read_stop(stream)
    }

    /// From now on also an idle connection whose end was read tells by `onError` that it was reset: what a peer
    /// that has closed both ways does when something is written to it, and one that only stopped sending
    /// doesn't. Where that can't be watched, the next write tells.
    public func watchForReset() {
        guard !hasFailed, resetWatch == nil, let socket = descriptor else { return }
        resetWatch = try? ResetWatch(loop: loop, socket: socket) { [weak self] in
            self?.fail(UV_ECONNRESET.rawValue)
        }
    }

    private func didRead(count: Int, bytes: UnsafeRawPointer?) {
        if count > 0 {
            onRead?(UnsafeRawBufferPointer(start: bytes, count: count))
        } else if count == Int(UV_EOF.rawValue) {
            stopReading()
            onEnd?()
        } else if count < 0 {
            stopReading()
            fail(Int32(clamping: count))
        }
    }

    // MARK: Writing

    /// Writes `bytes`: at once what the system takes, the rest as soon as it does.
    public func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { write($0) }
    }

    /// Writes `bytes`; what the system doesn't take at once is copied.
    public func write(_ bytes: UnsafeRawBufferPointer) {
        guard box.isOpen, !hasFailed, !bytes.isEmpty else { return }
        var written = 0
        if queuedWriteBytes == 0 {
            var buffer = uv_buf_t(
                base: UnsafeMutablePointer(mutating: bytes.baseAddress?.assumingMemoryBound(to: CChar.self)),
                len: min(bytes.count, Self.writeLimit))
            let status = uv_try_write(stream, &buffer, 1)
            if status >= 0 {
                written = Int(status)
            } else if status != UV_EAGAIN.rawValue {
                fail(status)
                return
            }
        }
        if written < bytes.count { queue(UnsafeRawBufferPointer(rebasing: bytes[written...])) }
    }

    /// Copies `bytes` behind a request of libuv's and hands both over.
    private func queue(_ bytes: UnsafeRawBufferPointer) {
        let header = MemoryLayout<uv_write_t>.stride
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: header + bytes.count, alignment: MemoryLayout<uv_write_t>.alignment)
        guard let base = memory.baseAddress else { return }
        let payload = UnsafeMutableRawBufferPointer(rebasing: memory[header...])
        payload.copyMemory(from: bytes)
        let request = base.bindMemory(to: uv_write_t.self, capacity: 1)
        request.pointee.data = UnsafeMutableRawPointer(bitPattern: bytes.count)
        var buffer = uv_buf_t(
            base: payload.baseAddress?.assumingMemoryBound(to: CChar.self), len: payload.count)
        queuedWriteBytes += bytes.count
        let status = uv_write(request, stream, &buffer, 1) { request, status in
            guard let request else { return }
            let count = Int(bitPattern: request.pointee.data)
            let stream = TCPStream.owner(of: request.pointee.handle)
            UnsafeMutableRawPointer(request).deallocate()
            stream?.didWrite(count: count, status: status)
        }
        if status < 0 {
            base.deallocate()
            queuedWriteBytes -= bytes.count
            fail(status)
        }
    }

    private func didWrite(count: Int, status: Int32) {
        queuedWriteBytes -= count
        if status < 0 {
            fail(status)
        } else if queuedWriteBytes == 0 {
            onDrained?()
        }
    }

    /// Tells the peer, behind all that waits to be written, that no more will come (FIN).
    public func shutdownWriting() {
        guard box.isOpen, !hasFailed else { return }
        let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
        let status = uv_shutdown(request, stream) { request, _ in request?.deallocate() }
        if status < 0 { request.deallocate() }
    }

    // MARK: The end

    /// Closes the connection; what waits to be written is dropped. A second call does nothing.
    public func close(_ onClosed: (() -> Void)? = nil) {
        forgetCallbacks()
        box.close(onClosed)
    }

    /// Closes the connection so that the peer sees a reset (RST) rather than an orderly end.
    public func reset() {
        forgetCallbacks()
        box.close(nil) { uv_tcp_close_reset($0, handleDidClose) }
    }

    /// The callbacks hold their owner, which mostly holds the stream.
    private func forgetCallbacks() {
        guard box.isOpen else { return }
        resetWatch?.close()
        resetWatch = nil
        onRead = nil
        onEnd = nil
        onError = nil
        onDrained = nil
    }

    /// Tells of an error at the end of the turn, never from within a call of the owner's.
    private func fail(_ status: Int32) {
        guard !hasFailed else { return }
        hasFailed = true
        stopReading()
        resetWatch?.close()
        resetWatch = nil
        loop.atEndOfTurn { [self] in onError?(EventLoopError(code: status)) }
    }

    /// The peer's numeric address, `unix` of a socket of the file system; nil where the system doesn't know it any more.
    public private(set) lazy var remoteAddress: String? = {
        var storage = sockaddr_storage()
        var size = Int32(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { storage in
            let address = UnsafeMutableRawPointer(storage).assumingMemoryBound(to: sockaddr.self)
            guard box.isOpen, uv_tcp_getpeername(box.raw, address, &size) == 0 else { return nil }
            if Int32(address.pointee.sa_family) == AF_UNIX { return "unix" }
            return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { name in
                guard let base = name.baseAddress, uv_ip_name(address, base, name.count) == 0 else {
                    return nil
                }
                return String(cString: base)
            }
        }
    }()

    private var stream: UnsafeMutablePointer<uv_stream_t> {
        UnsafeMutableRawPointer(box.raw).assumingMemoryBound(to: uv_stream_t.self)
    }

    @inline(__always)
    private static func owner(of stream: UnsafeMutablePointer<uv_stream_t>?) -> TCPStream? {
        HandleBox<uv_tcp_t, TCPStream>.owner(
            of: UnsafeMutableRawPointer(stream)?.assumingMemoryBound(to: uv_tcp_t.self))
    }

    @inline(__always)
    private static func owner(ofHandle handle: UnsafeMutablePointer<uv_handle_t>?) -> TCPStream? {
        HandleBox<uv_tcp_t, TCPStream>.owner(
            of: UnsafeMutableRawPointer(handle)?.assumingMemoryBound(to: uv_tcp_t.self))
    }
}

import CLibUV
import Locking

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An accepted connection of a TCP socket or a Unix socket; libuv treats both alike.
///
/// Confined to its loop's thread, like its callbacks. The listener's `onConnection` becomes its owner: the stream stays
/// open, and in memory, until `close()` or `reset()`.
package final class TCPStream {
    /// Gets the bytes that were read. They are valid during the call only.
    package var onRead: ((RawSpan) -> Void)? {
        get { state.value.onRead }
        set { state.value.onRead = newValue }
    }
    /// Called when the peer has ended its side (FIN). Nothing is read after it.
    package var onEnd: (() -> Void)?
    /// Called once when reading or writing failed (`ECONNRESET`, `EPIPE`, …). The owner still has to close the stream.
    package var onError: ((EventLoopError) -> Void)?
    /// Called when the system has taken everything that was queued to be written.
    package var onDrained: (() -> Void)?

    /// Maximum number of bytes that `onRead` gets at once; the loop's buffer is another.
    package var maximumReadBytes: Int {
        get { state.value.maximumReadBytes }
        set { state.value.maximumReadBytes = newValue }
    }

    package var queuedWriteBytes: Int { state.value.queuedWriteBytes }

    private struct State {
        var onRead: ((RawSpan) -> Void)?
        var maximumReadBytes = Int.max
        var queuedWriteBytes = 0
        var hasFailed = false
        var isReading = false
    }

    private let state: Confined<State>
    private let box: HandleBox<uv_tcp_t, TCPStream>
    private var resetWatch: FileDescriptorPoll?

    /// Maximum number of bytes of one system call: `uv_try_write` returns the count as a C int.
    private static let writeLimit = 1 << 30

    init(loop: EventLoop) throws(EventLoopError) {
        box = try HandleBox(loop: loop, uv_tcp_init)
        state = Confined(State())
        box.attach(self)
    }

    package var loop: EventLoop { box.loop }

    func accept(from listener: UnsafeMutablePointer<uv_stream_t>) -> Bool {
        guard uv_accept(listener, stream) == 0 else { return false }
        // Responses are written whole: waiting to fill a segment would only delay them (TCP_NODELAY, tcp(7)).
        uv_tcp_nodelay(box.raw, 1)
        return true
    }

    /// Takes over a connection that was accepted without libuv. Closes the descriptor if that fails.
    func adopt(_ descriptor: Int32) -> Bool {
        guard uv_tcp_open(box.raw, descriptor) == 0 else {
            closeDescriptor(descriptor)
            return false
        }
        uv_tcp_nodelay(box.raw, 1)
        return true
    }

    package var descriptor: Int32? {
        var socket: uv_os_fd_t = -1
        guard box.isOpen, uv_fileno(box.handle, &socket) == 0 else { return nil }
        return socket
    }

    /// Whether the system holds received bytes that were not read yet.
    package var hasUnreadInput: Bool {
        guard let socket = descriptor else { return false }
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    package func startReading() {
        guard box.isOpen, !state.value.isReading, !state.value.hasFailed else { return }
        state.value.isReading = true
        let status = uv_read_start(
            stream,
            { handle, _, buffer in
                // All streams share one buffer: a read is delivered before the next one starts.
                let raw = UnsafeMutableRawPointer(handle)?.assumingMemoryBound(to: uv_stream_t.self)
                guard let stream = TCPStream.owner(of: raw) else { return }
                let memory = stream.loop.readBuffer
                buffer?.pointee.base = memory.baseAddress?.assumingMemoryBound(to: CChar.self)
                buffer?.pointee.len = min(memory.count, max(1, stream.maximumReadBytes))
            },
            { handle, count, buffer in
                let bytes = UnsafeRawPointer(buffer?.pointee.base)
                TCPStream.owner(of: handle)?.didRead(count: count, bytes: bytes)
            })
        if status < 0 { fail(status) }
    }

    /// TCP's window holds the peer back once the system's buffers are full.
    package func stopReading() {
        guard box.isOpen, state.value.isReading else { return }
        state.value.isReading = false
        uv_read_stop(stream)
    }

    /// Makes `onError` report a reset even after the peer's end was read, when nothing more is read or written.
    ///
    /// Write something after it: a peer that has closed both directions responds with a reset, a peer that only
    /// stopped sending doesn't. If the system can't watch for it, the next write reports the reset.
    package func watchForReset() {
        guard !state.value.hasFailed, resetWatch == nil, let socket = descriptor else { return }
        // libuv doesn't poll the stream any more, unless something is to be written. epoll always reports errors and hang-ups
        // (epoll_ctl(2), `EPOLLERR`). kqueue doesn't: there, only the next write finds out.
        resetWatch = try? FileDescriptorPoll(loop: loop, descriptor: socket) { [weak self] _ in
            self?.fail(UV_ECONNRESET.rawValue)
        }
        try? resetWatch?.start(.urgent)
    }

    private func didRead(count: Int, bytes: UnsafeRawPointer?) {
        if count > 0 {
            onRead?(UnsafeRawBufferPointer(start: bytes, count: count).bytes)
        } else if count == Int(UV_EOF.rawValue) {
            stopReading()
            onEnd?()
        } else if count < 0 {
            stopReading()
            fail(Int32(clamping: count))
        }
    }

    /// Writes `bytes`. What the system doesn't take at once is copied and queued.
    package func write(_ bytes: [UInt8]) { write(bytes.span.bytes) }

    /// Writes `bytes`. What the system doesn't take at once is copied and queued.
    package func write(_ bytes: RawSpan) { bytes.withUnsafeBytes(write) }

    private func write(_ bytes: UnsafeRawBufferPointer) {
        guard box.isOpen, !state.value.hasFailed, !bytes.isEmpty else { return }
        var written = 0
        if state.value.queuedWriteBytes == 0 {
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

    /// Copies `bytes` into the memory of a `uv_write_t`, behind it, and gives both to libuv.
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
        state.value.queuedWriteBytes += bytes.count
        let status = uv_write(request, stream, &buffer, 1) { request, status in
            guard let request else { return }
            let count = Int(bitPattern: request.pointee.data)
            let stream = TCPStream.owner(of: request.pointee.handle)
            UnsafeMutableRawPointer(request).deallocate()
            stream?.didWrite(count: count, status: status)
        }
        if status < 0 {
            base.deallocate()
            state.value.queuedWriteBytes -= bytes.count
            fail(status)
        }
    }

    private func didWrite(count: Int, status: Int32) {
        state.value.queuedWriteBytes -= count
        if status < 0 {
            fail(status)
        } else if state.value.queuedWriteBytes == 0 {
            onDrained?()
        }
    }

    /// Sends FIN, after all queued bytes.
    package func shutdownWriting() {
        guard box.isOpen, !state.value.hasFailed else { return }
        let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
        let status = uv_shutdown(request, stream) { request, _ in request?.deallocate() }
        if status < 0 { request.deallocate() }
    }

    /// Drops queued bytes. A second call does nothing.
    package func close(_ onClosed: (() -> Void)? = nil) {
        forgetCallbacks()
        box.close(onClosed)
    }

    package func reset() {
        forgetCallbacks()
        box.close(nil) { uv_tcp_close_reset($0, handleDidClose) }
    }

    /// Breaks the reference cycle: the callbacks hold their owner, which usually holds the stream.
    private func forgetCallbacks() {
        guard box.isOpen else { return }
        resetWatch?.close()
        resetWatch = nil
        onRead = nil
        onEnd = nil
        onError = nil
        onDrained = nil
    }

    /// Reports an error at the end of the turn, so that `onError` never runs inside a call by the owner.
    private func fail(_ status: Int32) {
        guard !state.value.hasFailed else { return }
        state.value.hasFailed = true
        stopReading()
        resetWatch?.close()
        resetWatch = nil
        loop.atEndOfTurn { [self] in onError?(EventLoopError(code: status)) }
    }

    /// The peer's numeric address, or `unix` for a Unix socket; nil if the system doesn't know it any more.
    package private(set) lazy var remoteAddress: String? = {
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
}

import CLibUV

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Tells when a connection has broken whose end was read before: reading tells nothing more then, and a stream
/// with nothing to write isn't looked at.
///
/// Watches a second descriptor of the same socket for nothing but what `epoll` tells unasked, an error or a
/// hang-up (epoll_ctl(2), `EPOLLERR`); libuv takes no second handle on the first one. Confined to its loop.
/// kqueue doesn't tell: there, only the next write finds out.
final class ResetWatch {
    private let poll: FileDescriptorPoll
    private let descriptor: Int32

    /// - Throws: `EventLoopError` where there is no descriptor left.
    init(loop: EventLoop, socket: Int32, onReset: @escaping () -> Void) throws {
        let descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw EventLoopError(code: uv_translate_sys_error(errno)) }
        self.descriptor = descriptor
        do {
            poll = try FileDescriptorPoll(loop: loop, descriptor: descriptor) { _ in onReset() }
        } catch {
            closeDescriptor(descriptor)
            throw error
        }
        do {
            try poll.start(.urgent)
        } catch {
            close()
            throw error
        }
    }

    func close() {
        poll.close { [descriptor] in closeDescriptor(descriptor) }
    }
}

import CLibUV

/// Tells when a file descriptor that another library owns is readable or writable (`uv_poll`).
///
/// Confined to the loop's thread. Level-triggered: it tells again until the other library has read.
/// Close it, and wait for `onClosed`, before the descriptor itself is closed.
public final class FileDescriptorPoll {
    /// What a descriptor is ready for.
    public struct Events: OptionSet, Sendable {
        /// libuv's event mask.
        public let rawValue: Int32

        /// Wraps libuv's event mask.
        public init(rawValue: Int32) {
            self.rawValue = rawValue
        }

        /// There is something to read, or the end of the stream.
        public static let readable = Events(rawValue: Int32(UV_READABLE.rawValue))
        /// There is room to write.
        public static let writable = Events(rawValue: Int32(UV_WRITABLE.rawValue))
        /// The peer has closed.
        public static let disconnect = Events(rawValue: Int32(UV_DISCONNECT.rawValue))
        /// There is urgent data. On Linux an error or a hang-up is told whatever is watched for.
        public static let urgent = Events(rawValue: Int32(UV_PRIORITIZED.rawValue))
    }

    private let box: HandleBox<uv_poll_t, FileDescriptorPoll>
    private let onEvents: (Result<Events, EventLoopError>) -> Void

    /// Prepares to watch `descriptor`, which libuv makes non-blocking.
    ///
    /// - Throws: `EventLoopError`, `EBADF` or `EPERM` for a descriptor that can't be polled.
    public init(
        loop: EventLoop, descriptor: Int32,
        _ onEvents: @escaping (Result<Events, EventLoopError>) -> Void
    ) throws {
        box = try HandleBox(loop: loop) { uv_poll_init($0, $1, descriptor) }
        self.onEvents = onEvents
        box.attach(self)
    }

    /// Watches for `events` and no others from now on.
    public func start(_ events: Events) throws {
        guard box.isOpen else { return }
        let status = uv_poll_start(box.raw, events.rawValue) { raw, status, events in
            guard let poll = HandleBox<uv_poll_t, FileDescriptorPoll>.owner(of: raw) else { return }
            poll.onEvents(
                status < 0
                    ? .failure(EventLoopError(code: status)) : .success(Events(rawValue: events)))
        }
        try EventLoopError.check(status)
    }

    /// Stops watching; it can be started again.
    public func stop() {
        guard box.isOpen else { return }
        uv_poll_stop(box.raw)
    }

    /// Ends watching for good; `onClosed` tells that libuv no longer knows the descriptor.
    public func close(_ onClosed: (() -> Void)? = nil) {
        box.close(onClosed)
    }
}

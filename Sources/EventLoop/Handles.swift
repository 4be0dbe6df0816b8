import CLibUV

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The part of `HandleBox` that doesn't depend on its generic parameters, for libuv's C callbacks.
class AnyHandleBox {
    func didClose() {}

    func closeForgotten() {}

    @inline(__always)
    static func of(_ handle: UnsafeMutableRawPointer) -> AnyHandleBox? {
        let base = handle.assumingMemoryBound(to: uv_handle_t.self)
        guard let data = uv_handle_get_data(base) else { return nil }
        return Unmanaged<AnyHandleBox>.fromOpaque(data).takeUnretainedValue()
    }
}

/// The memory of one libuv handle, with libuv's ownership rules.
///
/// An initialised handle must be closed exactly once, on its loop's thread. Its memory may be freed in the close
/// callback or later, not before (libuv's documentation, `uv_close`). So an open handle keeps its box and its owner
/// alive, and the close callback releases both.
final class HandleBox<Raw, Owner: AnyObject>: AnyHandleBox {
    let raw: UnsafeMutablePointer<Raw>
    let loop: EventLoop
    private var owner: Owner?
    private var onClosed: (() -> Void)?
    private(set) var isOpen = false

    init(
        loop: EventLoop,
        _ initialize: (UnsafeMutablePointer<uv_loop_t>, UnsafeMutablePointer<Raw>) -> Int32
    ) throws(EventLoopError) {
        loop.preconditionInEventLoop()
        self.loop = loop
        raw = .allocateZeroed()
        super.init()
        let status = initialize(loop.raw, raw)
        guard status == 0 else { throw EventLoopError(code: status) }
        isOpen = true
        loop.handleOpened()
        uv_handle_set_data(handle, Unmanaged<AnyHandleBox>.passRetained(self).toOpaque())
    }

    deinit {
        raw.deallocate()
    }

    var handle: UnsafeMutablePointer<uv_handle_t> {
        UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
    }

    /// Keeps `owner` alive until the handle has closed. Callbacks find it by `owner(of:)`.
    func attach(_ owner: Owner) {
        self.owner = owner
    }

    /// The owner of a handle that libuv passes to a callback; nil once the handle is closing.
    @inline(__always)
    static func owner(of raw: UnsafeMutablePointer<Raw>?) -> Owner? {
        guard let raw,
            let data = uv_handle_get_data(
                UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self))
        else { return nil }
        // An open handle keeps its box alive.
        return Unmanaged<AnyHandleBox>.fromOpaque(data)._withUnsafeGuaranteedRef { box in
            let typed = unsafeDowncast(box, to: HandleBox<Raw, Owner>.self)
            return typed.isOpen ? typed.owner : nil
        }
    }

    /// Closes the handle. Calls `onClosed` once libuv no longer uses it. A second call does nothing.
    ///
    /// - Parameter closing: a variant of `uv_close` to try first; a status other than 0 means that it failed.
    func close(
        _ onClosed: (() -> Void)? = nil,
        by closing: (UnsafeMutablePointer<Raw>) -> Int32 = { _ in Int32(UV_ENOSYS.rawValue) }
    ) {
        loop.preconditionInEventLoop()
        guard isOpen else { return }
        isOpen = false
        self.onClosed = onClosed
        if closing(raw) != 0 { uv_close(handle, handleDidClose) }
    }

    override func closeForgotten() {
        close()
    }

    override func didClose() {
        let onClosed = self.onClosed
        self.onClosed = nil
        owner = nil
        loop.handleClosed()
        onClosed?()
    }
}

/// The close callback of every `HandleBox`; handles without a box are ignored.
let handleDidClose: uv_close_cb = { handle in
    guard let handle, let data = uv_handle_get_data(handle) else { return }
    uv_handle_set_data(handle, nil)
    Unmanaged<AnyHandleBox>.fromOpaque(data).takeRetainedValue().didClose()
}

extension UnsafeMutablePointer {
    /// Allocates one C structure, all zero: fields that a library's function doesn't set have its default, and libuv's `data` is
    /// nil until it is set.
    package static func allocateZeroed() -> UnsafeMutablePointer {
        let memory = allocate(capacity: 1)
        UnsafeMutableRawPointer(memory).initializeMemory(
            as: UInt8.self, repeating: 0, count: MemoryLayout<Pointee>.size)
        return memory
    }
}

/// A timer of a loop, with a resolution of a millisecond. Named so because Foundation has a `Timer`.
package final class LoopTimer {
    private let box: HandleBox<uv_timer_t, LoopTimer>
    private let onFire: () -> Void

    /// It stays in memory until `close()`.
    package init(loop: EventLoop, _ onFire: @escaping () -> Void) {
        do {
            box = try HandleBox(loop: loop, uv_timer_init)
        } catch {
            // uv_timer_init always returns 0 (libuv's documentation and source).
            preconditionFailure("uv_timer_init: \(error)")
        }
        self.onFire = onFire
        box.attach(self)
    }

    /// Starts or restarts the timer. Times are rounded up to milliseconds, and negative ones count as zero.
    package func start(after: Duration, repeating: Duration? = nil) {
        guard box.isOpen else { return }
        uv_timer_start(
            box.raw, { raw in HandleBox<uv_timer_t, LoopTimer>.owner(of: raw)?.onFire() },
            after.roundedUpMilliseconds, repeating?.roundedUpMilliseconds ?? 0)
    }

    package func stop() {
        guard box.isOpen else { return }
        uv_timer_stop(box.raw)
    }

    package func close() {
        box.close()
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, at least 0: a timer must not fire early.
    var roundedUpMilliseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let attosecondsPerMillisecond: Int64 = 1_000_000_000_000_000
        let fraction = (attoseconds + attosecondsPerMillisecond - 1) / attosecondsPerMillisecond
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1000)
        return overflow ? .max : whole.addingReportingOverflow(UInt64(fraction)).partialValue
    }
}

/// The monotonic clock of libuv (`uv_hrtime`), for durations shorter than the millisecond of `EventLoop.now`.
package enum MonotonicClock {
    /// Nanoseconds since some moment before the process began, the same on every thread. Any thread.
    package static func nanoseconds() -> Int64 {
        Int64(truncatingIfNeeded: uv_hrtime())
    }

    package static var now: Duration { .nanoseconds(nanoseconds()) }
}

/// Calls a closure on a loop for a POSIX signal, in place of the signal's default effect. Several loops may watch one.
package final class SignalSource {
    private let box: HandleBox<uv_signal_t, SignalSource>
    private let onSignal: () -> Void

    /// Throws `EINVAL` for a signal that can't be caught.
    package init(loop: EventLoop, signal: Int32, _ onSignal: @escaping () -> Void) throws {
        box = try HandleBox(loop: loop, uv_signal_init)
        self.onSignal = onSignal
        let status = uv_signal_start(
            box.raw, { raw, _ in HandleBox<uv_signal_t, SignalSource>.owner(of: raw)?.onSignal() },
            signal)
        guard status == 0 else {
            box.close()
            throw EventLoopError(code: status)
        }
        box.attach(self)
    }

    /// Stops watching. Once nobody watches the signal it has its default effect again.
    package func close() {
        box.close()
    }
}

/// Watches a file descriptor that another library owns, until it is readable or writable (`uv_poll`).
///
/// It watches a duplicate, since libuv ends the process where a descriptor that it watches was closed, and libpq closes its own
/// as soon as it notices that a connection is lost. Confined to the loop's thread. Level-triggered: reports readable until the
/// other library has read.
package final class FileDescriptorPoll {
    package struct Events: OptionSet, Sendable {
        package let rawValue: Int32

        package init(rawValue: Int32) {
            self.rawValue = rawValue
        }

        /// There is something to read, or the end of the stream.
        package static let readable = Events(rawValue: Int32(UV_READABLE.rawValue))
        /// There is room to write.
        package static let writable = Events(rawValue: Int32(UV_WRITABLE.rawValue))
        /// There is urgent data. On Linux, errors and hang-ups are reported with any events, so with these alone too.
        static let urgent = Events(rawValue: Int32(UV_PRIORITIZED.rawValue))
    }

    private let box: HandleBox<uv_poll_t, FileDescriptorPoll>
    private let duplicate: Int32
    private let onEvents: (Result<Events, EventLoopError>) -> Void

    /// libuv makes `descriptor` non-blocking. Throws `EBADF` or `EPERM` for a descriptor that can't be polled; `EMFILE` where
    /// the process may open no other.
    package init(
        loop: EventLoop, descriptor: Int32,
        _ onEvents: @escaping (Result<Events, EventLoopError>) -> Void
    ) throws {
        let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { throw EventLoopError.lastSystemError }
        do {
            box = try HandleBox(loop: loop) { uv_poll_init($0, $1, duplicate) }
        } catch {
            closeDescriptor(duplicate)
            throw error
        }
        self.duplicate = duplicate
        self.onEvents = onEvents
        box.attach(self)
    }

    deinit {
        closeDescriptor(duplicate)
    }

    /// Watches for `events`, and no longer for any others.
    package func start(_ events: Events) throws {
        guard box.isOpen else { return }
        let status = uv_poll_start(box.raw, events.rawValue) { raw, status, events in
            guard let poll = HandleBox<uv_poll_t, FileDescriptorPoll>.owner(of: raw) else { return }
            poll.onEvents(
                status < 0
                    ? .failure(EventLoopError(code: status)) : .success(Events(rawValue: events)))
        }
        try EventLoopError.check(status)
    }

    /// Calls `onClosed` in a later turn.
    package func close(_ onClosed: (() -> Void)? = nil) {
        box.close(onClosed)
    }
}

import CLibUV

/// The part of `HandleBox` that doesn't depend on its generic parameters, for libuv's C callbacks.
class AnyHandleBox {
    /// Called when libuv has closed the handle.
    func didClose() {}

    /// Closes a handle that its owner forgot to close.
    func closeForgotten() {}

    /// The box behind a handle that libuv passes to a callback.
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

    /// Allocates a handle and initialises it by `initialize`, one of libuv's `uv_*_init` functions.
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

    /// The handle, as the type that libuv's common functions take.
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
    /// Allocates one C structure, all zero, so that libuv's `data` field is nil until it is set.
    static func allocateZeroed() -> UnsafeMutablePointer {
        let memory = allocate(capacity: 1)
        UnsafeMutableRawPointer(memory).initializeMemory(
            as: UInt8.self, repeating: 0, count: MemoryLayout<Pointee>.size)
        return memory
    }
}

import CLibUV

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An error code of libuv, which most often comes from the operating system.
///
/// Source: libuv's documentation, "Error handling".
public struct EventLoopError: Error, Hashable, Sendable, CustomStringConvertible {
    /// libuv's error code: negative, and on Unix the negated `errno`.
    public let code: Int32

    /// Wraps a code that libuv returned, or a negated `errno`.
    public init(code: Int32) {
        self.code = code
    }

    /// The symbolic name, for example `ECONNRESET`.
    public var name: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            return String(cString: uv_err_name_r(code, base, buffer.count))
        }
    }

    /// The name and its explanation, for example `ECONNRESET: connection reset by peer`.
    public var description: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress else { return name }
            return name + ": " + String(cString: uv_strerror_r(code, base, buffer.count))
        }
    }

    /// Throws if a libuv function returned a negative status.
    static func check(_ status: Int32) throws(EventLoopError) {
        if status < 0 { throw EventLoopError(code: status) }
    }

    /// The calling thread's `errno` as libuv would report it.
    static var lastSystemError: EventLoopError {
        EventLoopError(code: uv_translate_sys_error(errno))
    }
}

import Foundation

/// A call to the operating system that failed.
package struct SystemCallError: Error, Hashable, CustomStringConvertible, LocalizedError {
    /// Which call, and on what.
    package let call: String
    /// The `errno` of the failure.
    package let code: Int32

    /// Makes the error of a call.
    package init(_ call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// The call and what the system calls the failure.
    package var description: String { "\(call): \(String(cString: strerror(code)))" }

    /// The same as `description`.
    package var errorDescription: String? { description }
}

/// Turns the −1 of a failed system call into an error that names the call.
@discardableResult
package func check(_ result: Int32, _ call: String) throws(SystemCallError) -> Int32 {
    guard result >= 0 else { throw SystemCallError(call, code: errno) }
    return result
}

/// Two connected descriptors that a child inherits only where it is handed one.
///
/// Pipes would do, but `pipe2`, which makes them close-on-exec in the same step, is not in Swift's Glibc module; a
/// child that another thread starts in between would hold the end open.
///
/// - Throws: ``SystemCallError``.
package func socketPair() throws -> (Int32, Int32) {
    var pair: [Int32] = [-1, -1]
    #if canImport(Darwin)
        try check(socketpair(AF_UNIX, SOCK_STREAM, 0, &pair), "socketpair")
        var one: Int32 = 1
        for descriptor in pair {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one, socklen_t(MemoryLayout<Int32>.size))
        }
    #else
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try check(socketpair(AF_UNIX, type, 0, &pair), "socketpair")
    #endif
    return (pair[0], pair[1])
}

/// Sends a line to a socket. That the other end has closed is no error and raises no SIGPIPE.
package func sendLine(_ line: String, to socket: Int32) {
    let text = line + "\n"
    #if canImport(Darwin)
        let flags: Int32 = 0
    #else
        let flags = Int32(MSG_NOSIGNAL)
    #endif
    _ = send(socket, text, text.utf8.count, flags)
}

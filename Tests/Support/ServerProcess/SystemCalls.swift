import Foundation

/// A call to the operating system that failed.
public struct SystemCallError: Error, CustomStringConvertible {
    /// The `errno` of the failure.
    public let code: Int32

    /// What the system calls the failure.
    public var description: String { String(cString: strerror(code)) }
}

/// Turns the −1 of a failed system call into an error.
@discardableResult
func check(_ result: Int32) throws -> Int32 {
    guard result >= 0 else { throw SystemCallError(code: errno) }
    return result
}

/// Two connected descriptors that no child inherits unless it is handed one.
///
/// Not a pipe: writing into one whose reader has gone would end this process (SIGPIPE).
func socketPair() throws -> (Int32, Int32) {
    var pair: [Int32] = [-1, -1]
    #if canImport(Darwin)
        try check(socketpair(AF_UNIX, SOCK_STREAM, 0, &pair))
        var one: Int32 = 1
        for descriptor in pair {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one, socklen_t(MemoryLayout<Int32>.size))
        }
    #else
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try check(socketpair(AF_UNIX, type, 0, &pair))
    #endif
    return (pair[0], pair[1])
}

/// Sends a line to a socket; one whose other end has closed is no error.
func sendLine(_ line: String, to socket: Int32) {
    let text = line + "\n"
    #if canImport(Darwin)
        let flags: Int32 = 0
    #else
        let flags = Int32(MSG_NOSIGNAL)
    #endif
    _ = send(socket, text, text.utf8.count, flags)
}

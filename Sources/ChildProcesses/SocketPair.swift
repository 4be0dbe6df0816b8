import Foundation

/// Two connected descriptors that no child inherits unless it is handed one.
///
/// Pipes would do, but what makes one close-on-exec in the same step, pipe2, is not in Swift's Glibc module; a
/// child that another thread starts in between would hold the end open.
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

/// Sends a line to a socket; one whose other end has closed is no error and raises no SIGPIPE.
package func sendLine(_ line: String, to socket: Int32) {
    let text = line + "\n"
    #if canImport(Darwin)
        let flags: Int32 = 0
    #else
        let flags = Int32(MSG_NOSIGNAL)
    #endif
    _ = send(socket, text, text.utf8.count, flags)
}

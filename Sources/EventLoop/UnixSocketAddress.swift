import CLibUV

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The address of a socket of the file system (unix(7)): what stands behind `unix:` where a host is named.
public struct UnixSocketAddress: Sendable {
    /// The path of the socket's file.
    public let path: String

    /// The path that a host names, `unix:/run/poi.sock` for instance; nil where it names a host of the network.
    ///
    /// A path is absolute, and fits into `sun_path` with its terminating zero.
    public init?(host: String) {
        guard host.hasPrefix("unix:/") else { return nil }
        let path = String(host.dropFirst("unix:".count))
        guard path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path), !path.utf8.contains(0)
        else { return nil }
        self.path = path
    }

    /// Hands the address to a system call.
    public func withSocketAddress<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Removes the socket's file, when nobody listens on it any more.
    public func remove() {
        unlink(path)
    }

    /// A new socket of this kind.
    func makeSocket() throws(EventLoopError) -> Int32 {
        #if canImport(Darwin)
            let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #else
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #endif
        guard descriptor >= 0 else { throw .lastSystemError }
        return descriptor
    }

    /// Binds a new socket, in place of one that nobody listens on any more.
    func bind() throws(EventLoopError) -> Int32 {
        let descriptor = try makeSocket()
        do throws(EventLoopError) {
            try removeStaleSocket()
            let status = withSocketAddress { address, length in
                #if canImport(Darwin)
                    Darwin.bind(descriptor, address, length)
                #else
                    Glibc.bind(descriptor, address, length)
                #endif
            }
            guard status == 0 else { throw .lastSystemError }
            return descriptor
        } catch {
            closeDescriptor(descriptor)
            throw error
        }
    }

    /// Removes the file of a socket whose process has gone; any other file stays, and is in the way.
    private func removeStaleSocket() throws(EventLoopError) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
        let probe = try makeSocket()
        defer { closeDescriptor(probe) }
        let isTaken = withSocketAddress { connect(probe, $0, $1) } == 0
        if !isTaken, errno == ECONNREFUSED { unlink(path) }
    }
}

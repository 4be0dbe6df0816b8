import CLibUV

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A socket bound to an address of TCP or of the file system, ready for a `TCPListener`.
///
/// Bound ahead of the loops, so that an address that is taken is told before anything starts.
public struct BoundSocket: Sendable {
    let descriptor: Int32

    /// The port, also where 0 asked the system to choose one; 0 of a socket of the file system.
    public let port: Int

    private init(descriptor: Int32, port: Int) {
        self.descriptor = descriptor
        self.port = port
    }

    /// Binds `count` sockets to one address, one for each loop that shares it.
    ///
    /// Sockets that share a port (`SO_REUSEPORT`, socket(7)) would let a second process of the same
    /// user take it as well, in silence; so an ordinary bind probes first. Blocks while a host name is
    /// looked up.
    ///
    /// - Parameters:
    ///   - host: an address or a name, of which the first address is taken; or `unix:` and an absolute path, where
    ///     the sockets are one, and a file that a process has left behind is replaced.
    ///   - port: 0…65535, where 0 lets the system choose; nothing for a path.
    ///   - count: at least 1.
    /// - Throws: `EventLoopError`: `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`, `EAI_NONAME`, …
    public static func bind(host: String, port: Int, count: Int = 1) throws -> [BoundSocket] {
        if let address = UnixSocketAddress(host: host) { return try bind(address, count: count) }
        guard count > 1 else { return [try BoundSocket(host: host, port: port, sharesPort: false)] }
        if port != 0 { try BoundSocket(host: host, port: port, sharesPort: false).close() }
        let first = try BoundSocket(host: host, port: port, sharesPort: true)
        var sockets = [first]
        do {
            while sockets.count < count {
                sockets.append(try BoundSocket(host: host, port: first.port, sharesPort: true))
            }
        } catch {
            for socket in sockets { socket.close() }
            throw error
        }
        return sockets
    }

    /// One socket under several descriptors: of the file system none can share an address.
    private static func bind(_ address: UnixSocketAddress, count: Int) throws -> [BoundSocket] {
        var sockets = [BoundSocket(descriptor: try address.bind(), port: 0)]
        while sockets.count < count {
            let descriptor = fcntl(sockets[0].descriptor, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else {
                let error = EventLoopError.lastSystemError
                for socket in sockets { socket.close() }
                throw error
            }
            sockets.append(BoundSocket(descriptor: descriptor, port: 0))
        }
        return sockets
    }

    /// Binds one socket.
    init(host: String, port: Int, sharesPort: Bool) throws(EventLoopError) {
        guard (0...65535).contains(port) else { throw EventLoopError(code: Int32(UV_EINVAL.rawValue)) }
        let address = try Self.resolve(host: host, port: port)
        defer { freeaddrinfo(address) }
        #if canImport(Darwin)
            let kind = SOCK_STREAM
        #else
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #endif
        let descriptor = socket(address.pointee.ai_family, kind, 0)
        guard descriptor >= 0 else { throw .lastSystemError }
        do throws(EventLoopError) {
            try Self.enable(SO_REUSEADDR, on: descriptor)
            if sharesPort { try Self.enable(SO_REUSEPORT, on: descriptor) }
            #if canImport(Darwin)
                let status = Darwin.bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen)
            #else
                let status = Glibc.bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen)
            #endif
            guard status == 0 else { throw EventLoopError.lastSystemError }
            self.port = try Self.port(of: descriptor)
        } catch {
            closeDescriptor(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    /// Gives the socket back; only for one that no listener has taken.
    public func close() {
        closeDescriptor(descriptor)
    }

    private static func resolve(
        host: String, port: Int
    ) throws(EventLoopError) -> UnsafeMutablePointer<addrinfo> {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        #if canImport(Darwin)
            hints.ai_socktype = SOCK_STREAM
        #else
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        guard status == 0, let list else { throw EventLoopError(code: Int32(UV_EAI_NONAME.rawValue)) }
        return list
    }

    private static func enable(_ option: Int32, on descriptor: Int32) throws(EventLoopError) {
        var value: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        guard setsockopt(descriptor, SOL_SOCKET, option, &value, size) == 0 else { throw .lastSystemError }
    }

    private static func port(of descriptor: Int32) throws(EventLoopError) -> Int {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        guard status == 0 else { throw .lastSystemError }
        return withUnsafePointer(to: &storage) { storage in
            storage.pointee.ss_family == sa_family_t(AF_INET6)
                ? storage.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    Int(UInt16(bigEndian: $0.pointee.sin6_port))
                }
                : storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    Int(UInt16(bigEndian: $0.pointee.sin_port))
                }
        }
    }
}

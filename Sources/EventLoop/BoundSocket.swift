import CLibUV

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A socket that is bound to a TCP address or to a Unix socket's path, ready for a `TCPListener`.
///
/// Sockets are bound before any loop starts, so that a taken address is reported first.
package struct BoundSocket: Sendable {
    let descriptor: Int32

    /// The port, which the system chose if 0 was asked for; 0 for a Unix socket.
    package let port: Int

    private init(descriptor: Int32, port: Int) {
        self.descriptor = descriptor
        self.port = port
    }

    /// Binds `count` sockets to one address, one for each loop that shares it.
    ///
    /// Sockets that share a port (`SO_REUSEPORT`, socket(7)) would let a second process of the same user bind it too,
    /// without an error. So one socket is first bound without that option. Blocks while a host name is resolved.
    ///
    /// - Parameters:
    ///   - host: an address, or a name, whose first address is used. Or `unix:` and an absolute path: then all the
    ///     sockets are one, and a socket file that a process left behind is replaced.
    ///   - port: 0…65535; 0 lets the system choose. Ignored for a path.
    /// - Throws: `EventLoopError`: `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`, `EAI_NONAME`, `EINVAL` for a port that
    ///   doesn't exist, `EPERM` for a group that the process may not give the file to, …
    package static func bind(
        host: String, port: Int, count: Int = 1, permissions: UnixSocketPermissions = UnixSocketPermissions()
    ) throws -> [BoundSocket] {
        if let address = UnixSocketAddress(host: host) {
            return try bind(address, count: count, permissions)
        }
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

    /// Binds one Unix socket and duplicates its descriptor: Unix sockets can't share an address.
    private static func bind(
        _ address: UnixSocketAddress, count: Int, _ permissions: UnixSocketPermissions
    ) throws -> [BoundSocket] {
        var sockets = [BoundSocket(descriptor: try address.bind(permissions), port: 0)]
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

    private init(host: String, port: Int, sharesPort: Bool) throws(EventLoopError) {
        guard (0...65535).contains(port) else { throw EventLoopError(code: Int32(UV_EINVAL.rawValue)) }
        let address = try Self.resolve(host: host, port: port)
        defer { freeaddrinfo(address) }
        let descriptor = try makeStreamSocket(address.pointee.ai_family)
        do throws(EventLoopError) {
            try Self.enable(SO_REUSEADDR, on: descriptor)
            if sharesPort { try Self.enable(SO_REUSEPORT, on: descriptor) }
            let status = systemBind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen)
            guard status == 0 else { throw EventLoopError.lastSystemError }
            self.port = try Self.port(of: descriptor)
        } catch {
            closeDescriptor(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    /// Only for a socket that no listener owns.
    package func close() {
        closeDescriptor(descriptor)
    }

    private static func resolve(
        host: String, port: Int
    ) throws(EventLoopError) -> UnsafeMutablePointer<addrinfo> {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        hints.ai_socktype = streamKind
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

/// Who may connect to a Unix socket: whoever may write to its file (unix(7), "Pathname socket ownership and permissions").
package struct UnixSocketPermissions: Hashable, Sendable {
    /// The file's mode, such as 0o660; nil leaves it to the umask.
    package var mode: mode_t?
    /// The file's group; nil leaves it to the system.
    package var group: gid_t?

    package init(mode: mode_t? = nil, group: gid_t? = nil) {
        self.mode = mode
        self.group = group
    }
}

/// The address of a Unix socket (unix(7)), written `unix:` and a path where a host is expected.
package struct UnixSocketAddress: Sendable {
    package let path: String

    /// Reads a host of the form `unix:/run/poi.sock`; nil for any other.
    ///
    /// The path has to be absolute, and to fit into `sun_path` with its terminating zero.
    package init?(host: String) {
        guard host.hasPrefix("unix:/") else { return nil }
        let path = String(host.dropFirst("unix:".count))
        guard path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path), !path.utf8.contains(0)
        else { return nil }
        self.path = path
    }

    package func withSocketAddress<Result>(
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

    /// To be called once nobody listens on it any more.
    package func remove() {
        unlink(path)
    }

    /// Connects a new blocking socket to this address; the caller closes it.
    ///
    /// - Throws: `EventLoopError`: `ECONNREFUSED`, `ENOENT`, `EACCES`, …
    package func connect() throws(EventLoopError) -> Int32 {
        let descriptor = try makeStreamSocket(AF_UNIX)
        let status = withSocketAddress { systemConnect(descriptor, $0, $1) }
        guard status == 0 else {
            let error = EventLoopError.lastSystemError
            closeDescriptor(descriptor)
            throw error
        }
        return descriptor
    }

    /// Binds a new socket. Replaces the file of a socket that nobody listens on any more.
    ///
    /// Nobody can connect before its permissions are set, since it doesn't listen yet.
    fileprivate func bind(_ permissions: UnixSocketPermissions) throws(EventLoopError) -> Int32 {
        let descriptor = try makeStreamSocket(AF_UNIX)
        do throws(EventLoopError) {
            try removeStaleSocket()
            let status = withSocketAddress { systemBind(descriptor, $0, $1) }
            guard status == 0 else { throw .lastSystemError }
            do throws(EventLoopError) { try set(permissions) } catch {
                remove()
                throw error
            }
            return descriptor
        } catch {
            closeDescriptor(descriptor)
            throw error
        }
    }

    private func set(_ permissions: UnixSocketPermissions) throws(EventLoopError) {
        if let group = permissions.group {
            guard lchown(path, uid_t.max, group) == 0 else { throw .lastSystemError }
        }
        if let mode = permissions.mode {
            guard chmod(path, mode) == 0 else { throw .lastSystemError }
        }
    }

    /// Removes the file of a socket whose process is gone. Any other file stays, and `bind` fails.
    private func removeStaleSocket() throws(EventLoopError) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
        do throws(EventLoopError) {
            closeDescriptor(try connect())
        } catch {
            if error.code == UV_ECONNREFUSED.rawValue { unlink(path) }
        }
    }
}

private func makeStreamSocket(_ family: Int32) throws(EventLoopError) -> Int32 {
    #if canImport(Darwin)
        let descriptor = socket(family, streamKind, 0)
    #else
        let descriptor = socket(family, streamKind | Int32(SOCK_CLOEXEC.rawValue), 0)
    #endif
    guard descriptor >= 0 else { throw .lastSystemError }
    return descriptor
}

func closeDescriptor(_ descriptor: Int32) { _ = systemClose(descriptor) }

// System calls that methods of the same names hide.
#if canImport(Darwin)
    private let systemBind = Darwin.bind
    private let systemConnect = Darwin.connect
    private let systemClose = Darwin.close
    private let streamKind = SOCK_STREAM
#else
    private let systemBind = Glibc.bind
    private let systemConnect = Glibc.connect
    private let systemClose = Glibc.close
    private let streamKind = Int32(SOCK_STREAM.rawValue)
#endif

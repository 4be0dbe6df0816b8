#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The number of file descriptors that the process may have open (getrlimit(2), `RLIMIT_NOFILE`).
package enum DescriptorLimit {
    /// Descriptors for the admin listener's connections, the log, and files that the process reads.
    private static let processNeeds = 128
    /// Descriptors of one loop for libuv and the listener.
    private static let loopNeeds = 8
    /// Descriptors of a connection to a database: libpq's, and the duplicate that the loop watches.
    private static let storeConnectionNeeds = 2

    package static var current: Int? { read().map { Int(clamping: $0.rlim_cur) } }

    /// As far as the process may; returns the limit in effect.
    package static func raise() -> Int? {
        guard var limit = read() else { return nil }
        limit.rlim_cur = limit.rlim_max
        #if canImport(Darwin)
            limit.rlim_cur = min(limit.rlim_max, rlim_t(OPEN_MAX))
            setrlimit(RLIMIT_NOFILE, &limit)
        #else
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #endif
        return current
    }

    /// At least one a loop.
    ///
    /// - Parameter storeConnections: the maximum number of connections to databases of one loop.
    package static func leftForClients(of limit: Int, loops: Int, storeConnections: Int) -> Int {
        max(loops, limit - processNeeds - loops * (loopNeeds + storeConnectionNeeds * storeConnections))
    }

    private static func read() -> rlimit? {
        var limit = rlimit()
        #if canImport(Darwin)
            let status = getrlimit(RLIMIT_NOFILE, &limit)
        #else
            let status = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #endif
        return status == 0 ? limit : nil
    }
}

import HTTPServer

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The limits that the loops of a process share.
package struct SharedLimits: Sendable {
    /// Counts each client's requests; nil if they aren't limited.
    package let rateLimiter: RateLimiter?
    let clients: ClientIdentification
    let connectionsPerClient: ClientConnections
    let memory: ClientMemory

    /// Makes limits that nothing counts towards yet.
    package init(_ configuration: ServiceConfiguration) {
        let access = configuration.access
        rateLimiter = access.rateLimit.map { RateLimiter($0) }
        clients = ClientIdentification(trustedProxies: access.trustedProxies)
        connectionsPerClient = ClientConnections(
            limit: access.maxConnectionsPerClient, identification: clients)
        memory = ClientMemory(
            limit: configuration.maxBodyBytes,
            share: max(configuration.maxBodyBytes / 4, 2 * EventLimits.bodyBytes))
    }
}

extension HTTPServerConfiguration {
    /// The configuration of one loop's HTTP server.
    package init(_ configuration: ServiceConfiguration, limits: SharedLimits) {
        self.init(
            maximumConnections: configuration.maxConnectionsPerLoop,
            connectionsPerClient: limits.connectionsPerClient, memory: limits.memory, clients: limits.clients,
            commonFields: ServiceDispatcher.commonFields(
                CrossOriginPolicy(configuration.access.allowedOrigins)))
    }
}

/// The number of file descriptors that the process may have open (getrlimit(2), `RLIMIT_NOFILE`).
enum DescriptorLimit {
    /// Descriptors for the admin listener's connections, the log, and files that the process reads.
    private static let processNeeds = 128
    /// Descriptors of one loop for libuv and the listener.
    private static let loopNeeds = 8

    /// The limit in effect; nil if it can't be read.
    static var current: Int? { read().map { Int(clamping: $0.rlim_cur) } }

    /// Raises the limit as far as the process may, and returns the limit in effect.
    static func raise() -> Int? {
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

    /// The number of descriptors that are left for clients' connections, at least one a loop.
    ///
    /// - Parameter storeConnections: the maximum number of connections to databases of one loop.
    static func leftForClients(of limit: Int, loops: Int, storeConnections: Int) -> Int {
        max(loops, limit - processNeeds - loops * (loopNeeds + storeConnections))
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

import HTTPServer

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What the loops of a process count together.
package struct SharedLimits: Sendable {
    /// Counts each client's requests; nil where there is no limit.
    package let rateLimiter: RateLimiter?
    let connectionsPerClient: ClientConnections
    let bodyBudget: BodyBudget

    /// Has counted nothing yet.
    package init(_ configuration: ServiceConfiguration) {
        let access = configuration.access
        rateLimiter = access.rateLimit.map { RateLimiter($0) }
        connectionsPerClient = ClientConnections(
            limit: access.maxConnectionsPerClient,
            identification: ClientIdentification(trustedProxies: access.trustedProxies))
        bodyBudget = BodyBudget(limit: configuration.maxBodyBytes)
    }
}

extension HTTPServerConfiguration {
    /// A loop's share of the service's limits, and the fields of all its responses.
    package init(_ configuration: ServiceConfiguration, limits: SharedLimits) {
        self.init(
            maximumConnections: configuration.maxConnectionsPerLoop,
            connectionsPerClient: limits.connectionsPerClient, bodyBudget: limits.bodyBudget,
            commonFields: ServiceHandler.commonFields(CrossOriginPolicy(configuration.access.allowedOrigins)))
    }
}

/// How many file descriptors the process may have open (getrlimit(2), `RLIMIT_NOFILE`), and how they are shared out.
enum DescriptorLimit {
    /// What the process needs beside its clients: the admin listener's connections, the log, files that it reads.
    private static let processNeeds = 128
    /// What a loop needs beside its clients and its stores: libuv's own, and its listener.
    private static let loopNeeds = 8

    /// The limit in effect; nil where the system doesn't tell.
    static var current: Int? { read().map { Int(clamping: $0.rlim_cur) } }

    /// Raises the limit as far as the process may; answers the limit in effect.
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

    /// How many descriptors there are for the connections of clients, at least one a loop.
    ///
    /// - Parameter storeConnections: the most connections to databases that a loop has.
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

import HTTPServer

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

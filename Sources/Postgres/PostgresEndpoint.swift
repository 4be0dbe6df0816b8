/// One of the servers that a connection string names: a host, or the folder of a Unix socket, and a port.
public struct PostgresEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// The host as the string names it, or its address where it names only that; empty is libpq's default.
    public let host: String
    /// The port; empty is libpq's default.
    public let port: String
    /// The address that the string gives beside the host, which saves looking it up.
    let address: String?

    init(host: String, port: String, address: String? = nil) {
        self.host = host
        self.port = port
        self.address = address
    }

    /// Host and port, nothing secret.
    public var description: String {
        let host = host.isEmpty ? "the default host" : host.contains(":") ? "[\(host)]" : host
        return port.isEmpty ? host : "\(host):\(port)"
    }

    /// Whether a connection to this host and port, as libpq names them, is one to this server.
    public func isReached(at other: (host: String, port: String)) -> Bool {
        // libpq tells an empty port where a list left it empty, and the default where nothing was said.
        host == other.host && Self.explicit(port) == Self.explicit(other.port)
    }

    private static func explicit(_ port: String) -> String { port.isEmpty ? "5432" : port }
}

extension ConnectionOptions {
    /// The servers that the string names, in its order; none where it names no host.
    ///
    /// Hosts, addresses and ports are lists side by side; one port is for all (PostgreSQL manual, "Specifying
    /// Multiple Hosts").
    var endpoints: [PostgresEndpoint] {
        let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        return (0..<max(hosts.count, addresses.count)).map { index in
            let address = index < addresses.count && !addresses[index].isEmpty ? addresses[index] : nil
            let host = index < hosts.count && !hosts[index].isEmpty ? hosts[index] : address ?? ""
            let port = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
            return PostgresEndpoint(host: host, port: port, address: address)
        }
    }

    private func list(_ keyword: String) -> [String] {
        guard let text = self[keyword] else { return [] }
        return text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
}

extension PostgresConfiguration {
    /// The servers that the connection string names, in its order; none where it leaves that to the environment
    /// or a service file.
    public var endpoints: [PostgresEndpoint] {
        conninfo.flatMap { ConnectionOptions(parsing: $0) }?.endpoints ?? []
    }

    /// Whether of several servers standbys are to be preferred (`target_session_attrs`).
    public var prefersStandbys: Bool {
        let wish = conninfo.flatMap { ConnectionOptions(parsing: $0) }?["target_session_attrs"]
        return wish == "prefer-standby" || wish == "standby"
    }

    /// The same with some of its servers only, which must not be none.
    public func narrowed(to endpoints: [PostgresEndpoint]) -> PostgresConfiguration {
        var configuration = self
        configuration.overrides = [
            ("host", endpoints.map(\.host).joined(separator: ",")),
            ("hostaddr", endpoints.map { $0.address ?? "" }.joined(separator: ",")),
            ("port", endpoints.map(\.port).joined(separator: ",")),
        ]
        return configuration
    }

    /// The same with one server only, whatever it is: a primary or a standby.
    public func probing(_ endpoint: PostgresEndpoint) -> PostgresConfiguration {
        var configuration = narrowed(to: [endpoint])
        configuration.overrides.append(("target_session_attrs", "any"))
        return configuration
    }
}

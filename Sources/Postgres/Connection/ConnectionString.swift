import CLibPQ

/// What a connection string sets explicitly, as libpq parses it.
struct ConnectionOptions {
    private var values: [(keyword: String, value: String, isShown: Bool)] = []

    /// Nil where libpq refuses the string, or would refuse its ports when it connects.
    init?(parsing conninfo: String) {
        // C would read up to a null byte and ignore the rest in silence.
        guard !conninfo.utf8.contains(0) else { return nil }
        guard let options = PQconninfoParse(conninfo, nil) else { return nil }
        self.init(taking: options)
        guard hasPorts, !Self.hasStrayAt(conninfo) else { return nil }
    }

    /// The options that libpq uses if a string sets none: from the environment, or its own defaults.
    static var defaults: ConnectionOptions {
        PQconndefaults().map { ConnectionOptions(taking: $0) } ?? ConnectionOptions()
    }

    private init() {}

    /// Reads options, and frees them.
    private init(taking options: UnsafeMutablePointer<PQconninfoOption>) {
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                // libpq marks passwords with "*" and options for experts with "D".
                let isShown = option.pointee.dispchar.map { $0.pointee != Self.secretMark } ?? true
                values.append((String(cString: keyword), String(cString: value), isShown))
            }
            option += 1
        }
    }

    /// Whether a URI has an `@` besides the one before its hosts, which means a password that isn't percent-encoded:
    /// libpq takes what follows the first `@` for a host's name, and would show it in its messages.
    private static func hasStrayAt(_ conninfo: String) -> Bool {
        // By bytes, as libpq reads it: an `@` with a combining mark behind it is another character.
        let (bytes, at) = (conninfo.utf8, UInt8(ascii: "@"))
        guard let scheme = ["postgresql://", "postgres://"].first(where: { bytes.starts(with: $0.utf8) })
        else { return false }
        let address = bytes.dropFirst(scheme.utf8.count).prefix { $0 != UInt8(ascii: "?") }
        let authority = address.prefix { $0 != UInt8(ascii: "/") }
        return authority.count { $0 == at } > 1 || address.dropFirst(authority.count).contains(at)
    }

    /// Whether the ports (one for all, or one a host) are valid port numbers; libpq's parser takes any text.
    private var hasPorts: Bool {
        guard let ports = self["port"] else { return true }
        return ports.split(separator: ",").allSatisfy { port in
            Int(port).map { (1...65535).contains($0) } ?? false
        }
    }

    /// The value of a keyword, if the string sets it.
    subscript(keyword: String) -> String? {
        values.last { $0.keyword == keyword }?.value
    }

    /// What may be printed.
    var shown: [(keyword: String, value: String)] {
        values.filter { $0.isShown }.map { ($0.keyword, $0.value) }
    }

    /// What must not be printed.
    var secrets: [String] {
        values.filter { !$0.isShown && !$0.value.isEmpty }.map(\.value)
    }

    private static let secretMark = CChar(UInt8(ascii: "*"))
}

// MARK: - The servers

/// One of the servers that a connection string names: a host, or the folder of a Unix socket, and a port.
public struct PostgresEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// The host as the string names it, or its address where only that is given; empty is libpq's default.
    public let host: String
    /// The port; empty is libpq's default.
    public let port: String
    /// The address that the string gives beside the host, so that the name isn't looked up.
    let address: String?

    init(host: String, port: String, address: String? = nil) {
        self.host = host
        self.port = port
        self.address = address
    }

    /// Host and port: nothing secret.
    public var description: String {
        let host = host.isEmpty ? "the default host" : host.contains(":") ? "[\(host)]" : host
        return port.isEmpty ? host : "\(host):\(port)"
    }

    /// Whether a connection to this host and port, as libpq names them, is one to this server.
    public func isReached(at other: (host: String, port: String)) -> Bool {
        // libpq reports an empty port where a list has an empty entry, and the default where there is no list.
        host == other.host && Self.explicit(port) == Self.explicit(other.port)
    }

    private static func explicit(_ port: String) -> String { port.isEmpty ? "5432" : port }
}

extension ConnectionOptions {
    /// The servers that the string names, in its order; none where it names no host.
    ///
    /// The n-th host goes with the n-th address and the n-th port; a single port is for all hosts (PostgreSQL manual,
    /// "Specifying Multiple Hosts").
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

    /// Whether standbys are preferred among several servers (`target_session_attrs`).
    public var prefersStandbys: Bool {
        let wanted = conninfo.flatMap { ConnectionOptions(parsing: $0) }?["target_session_attrs"]
        return wanted == "prefer-standby" || wanted == "standby"
    }

    /// The same configuration with only these of its servers, at least one.
    public func narrowed(to endpoints: [PostgresEndpoint]) -> PostgresConfiguration {
        var configuration = self
        configuration.overrides = [
            ("host", endpoints.map(\.host).joined(separator: ",")),
            ("hostaddr", endpoints.map { $0.address ?? "" }.joined(separator: ",")),
            ("port", endpoints.map(\.port).joined(separator: ",")),
        ]
        return configuration
    }

    /// The same with only this server, whether it is a primary or a standby.
    public func probing(_ endpoint: PostgresEndpoint) -> PostgresConfiguration {
        var configuration = narrowed(to: [endpoint])
        configuration.overrides.append(("target_session_attrs", "any"))
        return configuration
    }
}

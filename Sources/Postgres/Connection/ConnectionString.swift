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

    /// The keyword whose value libpq would refuse when it connects, an empty text where it would refuse another thing; nil where
    /// it would take the string.
    ///
    /// libpq's parser takes any text. It looks at most values when it begins to connect, so it is let begin, with an address that
    /// is none, so that nothing is looked up. It reads numbers later, so those are looked at here.
    func refusedKeyword(of conninfo: String) -> String? {
        if let keyword = Self.numbers.first(where: { keyword in
            self[keyword].map { Int32($0) == nil } ?? false
        }) {
            return keyword
        }
        let (hosts, addresses, ports) = (count("host"), count("hostaddr"), count("port"))
        if hosts > 0, addresses > 0, hosts != addresses { return "hostaddr" }
        if ports > 1, ports != max(hosts, addresses) { return "port" }
        let parameters = [
            ("dbname", conninfo), ("host", Self.noAddress), ("hostaddr", Self.noAddress), ("port", "1"),
        ]
        let connection = withCStrings(parameters.map(\.0)) { keywords in
            withCStrings(parameters.map(\.1)) { values in PQconnectStartParams(keywords, values, 1) }
        }
        guard let connection else { return nil }
        defer { PQfinish(connection) }
        let message = String(cString: PQerrorMessage(connection))
        // It has tried to connect.
        if PQstatus(connection) != CONNECTION_BAD || message.contains(Self.noAddress) { return nil }
        return shown.map(\.keyword).first { message.contains($0) } ?? ""
    }

    private func count(_ keyword: String) -> Int {
        (self[keyword] ?? "").isEmpty
            ? 0 : self[keyword]?.split(separator: ",", omittingEmptySubsequences: false).count ?? 0
    }

    private static let numbers = [
        "connect_timeout", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count",
        "tcp_user_timeout",
    ]
    private static let noAddress = "/nowhere"

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

import CLibPQ

/// What a conninfo string sets explicitly, as libpq parses it.
struct ConnectionOptions {
    private var values: [(keyword: String, value: String, isShown: Bool)] = []

    /// Nil where libpq refuses the string, or its ports as soon as it connects.
    init?(parsing conninfo: String) {
        // C would read up to a null byte and ignore the rest in silence.
        guard !conninfo.utf8.contains(0) else { return nil }
        guard let options = PQconninfoParse(conninfo, nil) else { return nil }
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                // libpq marks passwords with "*" and what is for experts with "D".
                let isShown = option.pointee.dispchar.map { $0.pointee != Self.secretMark } ?? true
                values.append((String(cString: keyword), String(cString: value), isShown))
            }
            option += 1
        }
        guard hasPorts, !Self.hasStrayAt(conninfo) else { return nil }
    }

    /// Whether a URI has an `@` besides the one before its hosts, as of a password that isn't percent-encoded: libpq
    /// takes what follows the first for a host's name, and would name it in its messages.
    private static func hasStrayAt(_ conninfo: String) -> Bool {
        guard let scheme = ["postgresql://", "postgres://"].first(where: { conninfo.hasPrefix($0) }) else {
            return false
        }
        let address = conninfo.dropFirst(scheme.count).prefix { $0 != "?" }
        let authority = address.prefix { $0 != "/" }
        return authority.count { $0 == "@" } > 1 || address.dropFirst(authority.count).contains("@")
    }

    /// Whether the ports, one or one a host, are numbers that a port can have; libpq parses any text.
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

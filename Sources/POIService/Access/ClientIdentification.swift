import HTTPServer

/// Tells clients apart by their addresses, also behind proxies that are known.
struct ClientIdentification: Sendable {
    /// Proxies whose `X-Forwarded-For` is believed; whoever comes by a socket of the file system is one too, since the
    /// file's permissions have let it in.
    let trustedProxies: [AddressRange]

    private static let forwardedFor: HTTPHeaderName = "X-Forwarded-For"
    /// What `TCPStream.remoteAddress` is of a socket of the file system.
    private static let unixPeer = "unix"
    /// Whoever comes without an address that can be read.
    private static let unknown = IPAddress(high: 0, low: 0)

    /// The peer's address; where that is a trusted proxy's, the last one in `X-Forwarded-For` that isn't: each
    /// proxy adds whom it has seen, and what stands before that is what anybody may have written.
    func client(of request: HTTPRequest, _ context: RequestContext) -> IPAddress {
        var address = context.remoteAddress.flatMap { IPAddress($0) } ?? Self.unknown
        guard isTrusted(address) || context.remoteAddress == Self.unixPeer,
            request.headers.contains(Self.forwardedFor)
        else { return address.client }
        let entries = request.headers.all(Self.forwardedFor).joined(separator: ",").split(separator: ",")
        for entry in entries.reversed() {
            guard let previous = Self.address(entry) else { break }
            address = previous
            if !isTrusted(previous) { break }
        }
        return address.client
    }

    /// The client at the other end of a connection; nil where that is a trusted proxy.
    func directClient(_ remoteAddress: String?) -> IPAddress? {
        let address = remoteAddress.flatMap { IPAddress($0) } ?? Self.unknown
        return isTrusted(address) || remoteAddress == Self.unixPeer ? nil : address.client
    }

    private func isTrusted(_ address: IPAddress) -> Bool {
        trustedProxies.contains { $0.contains(address) }
    }

    /// An entry's address: some proxies add the port, and brackets around an address of version 6.
    private static func address(_ entry: Substring) -> IPAddress? {
        let text = entry.filter { $0 != " " && $0 != "\t" }
        if text.hasPrefix("[") { return IPAddress(String(text.dropFirst().prefix { $0 != "]" })) }
        let hasPort = text.contains(".") && text.count { $0 == ":" } == 1
        return IPAddress(hasPort ? String(text.prefix { $0 != ":" }) : text)
    }
}

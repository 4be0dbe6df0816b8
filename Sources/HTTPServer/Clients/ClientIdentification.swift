import EventLoop
import Locking

/// Identifies clients by their addresses, even behind trusted proxies.
public struct ClientIdentification: Sendable {
    private let trustedProxies: [AddressRange]

    private static let forwardedFor: HTTPHeaderName = "X-Forwarded-For"
    /// `TCPStream.remoteAddress` of a Unix domain socket.
    private static let unixPeer = "unix"
    /// The maximum number of entries that are read: nobody has a longer chain of proxies.
    private static let maximumProxyCount = 32
    /// The maximum length of an entry: an IPv6 address with zone, brackets and port is shorter.
    private static let maximumEntryLength = 100

    /// - Parameter trustedProxies: whose `X-Forwarded-For` is believed. The peer of a Unix domain socket is one too: the
    ///   file's permissions have let it in.
    public init(trustedProxies: [AddressRange] = []) {
        self.trustedProxies = trustedProxies
    }

    /// The client that sent a request: the peer, or if that is a trusted proxy, the last address in `X-Forwarded-For`
    /// that isn't one. Each proxy appends its own peer's address; what comes before that may be forged.
    package func client(of request: HTTPRequest, _ context: RequestContext) -> IPAddress {
        var address = context.remoteAddress.flatMap { IPAddress($0) } ?? .unknown
        guard isTrusted(address) || context.remoteAddress == Self.unixPeer,
            request.headers.contains(Self.forwardedFor)
        else { return address.client }
        let fields = request.headers.all(Self.forwardedFor).joined(separator: ",")
        let entries = fields.utf8.split(separator: UInt8(ascii: ","))
        for entry in entries.suffix(Self.maximumProxyCount).reversed() {
            guard let previous = Self.address(entry) else { break }
            address = previous
            if !isTrusted(previous) { break }
        }
        return address.client
    }

    /// The client at the other end of a connection; nil if that is a trusted proxy.
    package func directClient(_ remoteAddress: String?) -> IPAddress? {
        let address = remoteAddress.flatMap { IPAddress($0) } ?? .unknown
        return isTrusted(address) || remoteAddress == Self.unixPeer ? nil : address.client
    }

    private func isTrusted(_ address: IPAddress) -> Bool {
        trustedProxies.contains { $0.contains(address) }
    }

    /// The address of an entry. Some proxies append the port, and put an IPv6 address into brackets.
    ///
    /// It parses bytes: a string's characters cost many times as much, and any client can send them.
    private static func address(_ entry: Substring.UTF8View) -> IPAddress? {
        let text = entry.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        guard text.count <= maximumEntryLength else { return nil }
        let colon = UInt8(ascii: ":")
        let address =
            if text.first == UInt8(ascii: "[") {
                text.dropFirst().prefix { $0 != UInt8(ascii: "]") }
            } else if text.contains(UInt8(ascii: ".")), text.count(where: { $0 == colon }) == 1 {
                text.prefix { $0 != colon }
            } else {
                text[...]
            }
        return IPAddress(String(decoding: address, as: UTF8.self))
    }
}

/// Limits each client's open connections on all loops together.
///
/// A client is an IPv4 address or an IPv6 /64 network. Trusted proxies are not limited, since they have the connections
/// of many clients. Any thread. Memory is bounded by the number of open connections.
public final class ClientConnections: Sendable {
    private let limit: Int
    private let identification: ClientIdentification
    private let counts = Lock<[IPAddress: Int]>([:])

    /// - Parameter limit: the maximum number of connections of one client.
    public init(limit: Int, identification: ClientIdentification = ClientIdentification()) {
        self.limit = limit
        self.identification = identification
    }

    /// Counts a new connection; false if its client already has as many as it may.
    package func open(from remoteAddress: String?) -> Bool {
        guard let client = identification.directClient(remoteAddress) else { return true }
        return counts.withLock { counts in
            guard counts[client, default: 0] < limit else { return false }
            counts[client, default: 0] += 1
            return true
        }
    }

    /// Called when a counted connection has closed.
    package func close(from remoteAddress: String?) {
        guard let client = identification.directClient(remoteAddress) else { return }
        counts.withLock { counts in
            guard let count = counts[client] else { return }
            counts[client] = count > 1 ? count - 1 : nil
        }
    }
}

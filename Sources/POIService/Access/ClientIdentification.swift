import HTTPServer
import Locking

/// Tells clients apart by their addresses, also behind proxies that are known.
struct ClientIdentification: Sendable {
    /// Proxies whose `X-Forwarded-For` is believed; whoever comes by a socket of the file system is one too, since the
    /// file's permissions have let it in.
    let trustedProxies: [AddressRange]

    private static let forwardedFor: HTTPHeaderName = "X-Forwarded-For"
    /// What `TCPStream.remoteAddress` is of a socket of the file system.
    private static let unixPeer = "unix"
    /// Entries that are looked at: nobody has more proxies behind each other.
    private static let mostProxies = 32
    /// Characters of an entry: an address of version 6 with its zone, brackets and a port has fewer.
    private static let longestEntry = 100
    /// Whoever comes without an address that can be read.
    private static let unknown = IPAddress(high: 0, low: 0)

    /// The peer's address; where that is a trusted proxy's, the last one in `X-Forwarded-For` that isn't: each
    /// proxy adds whom it has seen, and what stands before that is what anybody may have written.
    func client(of request: HTTPRequest, _ context: RequestContext) -> IPAddress {
        var address = context.remoteAddress.flatMap { IPAddress($0) } ?? Self.unknown
        guard isTrusted(address) || context.remoteAddress == Self.unixPeer,
            request.headers.contains(Self.forwardedFor)
        else { return address.client }
        let fields = request.headers.all(Self.forwardedFor).joined(separator: ",")
        let entries = fields.utf8.split(separator: UInt8(ascii: ","))
        for entry in entries.suffix(Self.mostProxies).reversed() {
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
    ///
    /// Read as bytes: a string's characters are many times as dear, and whoever comes through a proxy writes them.
    private static func address(_ entry: Substring.UTF8View) -> IPAddress? {
        let text = entry.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        guard text.count <= longestEntry else { return nil }
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

/// Lets one client have so many connections open at a time, on all loops together.
///
/// A client is an address of IPv4 or a /64 network of IPv6. Trusted proxies have as many as they like, since they bring
/// the connections of many clients. Any thread. Memory is bounded by the connections that are open.
final class ClientConnections: HTTPClientConnections {
    private let limit: Int
    private let identification: ClientIdentification
    private let counts = Lock<[IPAddress: Int]>([:])

    /// - Parameter limit: the most connections of one client.
    init(limit: Int, identification: ClientIdentification) {
        self.limit = limit
        self.identification = identification
    }

    func open(from remoteAddress: String?) -> Bool {
        guard let client = identification.directClient(remoteAddress) else { return true }
        return counts.withLock { counts in
            guard counts[client, default: 0] < limit else { return false }
            counts[client, default: 0] += 1
            return true
        }
    }

    func close(from remoteAddress: String?) {
        guard let client = identification.directClient(remoteAddress) else { return }
        counts.withLock { counts in
            guard let count = counts[client] else { return }
            counts[client] = count > 1 ? count - 1 : nil
        }
    }
}

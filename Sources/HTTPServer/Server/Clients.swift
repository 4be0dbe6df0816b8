import EventLoop
import Locking
import Synchronization

/// Identifies clients by their addresses, even behind trusted proxies.
package struct ClientIdentification: Sendable {
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
    package init(trustedProxies: [AddressRange] = []) {
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

    /// Some proxies append the port, and put an IPv6 address into brackets.
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
package final class ClientConnections: Sendable {
    private let limit: Int
    private let identification: ClientIdentification
    private let counts = Lock<[IPAddress: Int]>([:])

    package init(limit: Int, identification: ClientIdentification = ClientIdentification()) {
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

    package func close(from remoteAddress: String?) {
        guard let client = identification.directClient(remoteAddress) else { return }
        counts.withLock { counts in
            guard let count = counts[client] else { return }
            counts[client] = count > 1 ? count - 1 : nil
        }
    }
}

/// The time of a loop that one client's connections have used. Confined to its loop.
final class ClientAccount {
    let client: IPAddress
    fileprivate var connectionCount = 0
    private var spentNanoseconds: Int64 = 0
    /// When it was spent, in milliseconds of the loop's clock, which stands still during a turn.
    private var turn: Int64 = 0

    /// How long a client may keep a loop busy in a turn. After that, other clients' connections go first.
    private static let nanosecondsOfTurn: Int64 = 1_000_000

    fileprivate init(_ client: IPAddress) {
        self.client = client
    }

    func spend(_ nanoseconds: Int64, in turn: Int64) {
        if turn != self.turn { (self.turn, spentNanoseconds) = (turn, 0) }
        spentNanoseconds += nanoseconds
    }

    func isOverdrawn(in turn: Int64) -> Bool {
        turn == self.turn && spentNanoseconds > Self.nanosecondsOfTurn
    }
}

/// The clients that have connections to a loop. Confined to it. Proxies have no account: theirs have the requests of many.
final class ClientAccounts {
    private let clients: ClientIdentification
    private var accounts: [IPAddress: ClientAccount] = [:]

    init(_ clients: ClientIdentification) {
        self.clients = clients
    }

    func open(from remoteAddress: String?) -> ClientAccount? {
        guard let client = clients.directClient(remoteAddress) else { return nil }
        let account = accounts[client] ?? ClientAccount(client)
        accounts[client] = account
        account.connectionCount += 1
        return account
    }

    func close(_ account: ClientAccount) {
        account.connectionCount -= 1
        if account.connectionCount == 0 { accounts[account.client] = nil }
    }
}

/// Limits the memory that clients make the server hold, on all loops together: bodies as they arrive and what they unpack
/// to, unfinished heads, requests that wait behind others, and responses that aren't taken.
///
/// A client may have a share of it, so that one can't take it from all others. Any thread.
package final class ClientMemory: Sendable {
    package let limit: Int
    let share: Int
    private let held = Atomic(0)
    private let peak = Atomic(0)
    private let heldOfClients = Lock<[IPAddress: Int]>([:])

    /// - Parameter share: of one client, in bytes; a body of maximum length, and what it unpacks to, should fit. A quarter, if it
    ///   isn't given.
    package init(limit: Int = 32 << 20, share: Int? = nil) {
        self.limit = limit
        self.share = share ?? limit / 4
    }

    package var heldBytes: Int { held.load(ordering: .relaxed) }

    /// Most bytes that were held at a time since the last call.
    package func takePeak() -> Int { peak.exchange(heldBytes, ordering: .relaxed) }

    /// False if there isn't enough left.
    ///
    /// - Parameter client: nil for a proxy, which has the requests of many clients.
    func hold(_ bytes: Int, for client: IPAddress?) -> Bool {
        guard let client else { return hold(bytes) }
        return heldOfClients.withLock { counts in
            let count = counts[client, default: 0]
            guard count + bytes <= share, hold(bytes) else { return false }
            counts[client] = count + bytes
            return true
        }
    }

    func release(_ bytes: Int, for client: IPAddress?) {
        held.subtract(bytes, ordering: .relaxed)
        guard let client else { return }
        heldOfClients.withLock { counts in
            let rest = (counts[client] ?? 0) - bytes
            counts[client] = rest > 0 ? rest : nil
        }
    }

    private func hold(_ bytes: Int) -> Bool {
        // Two threads may both be refused when one would fit. That is accepted: the memory is nearly used up anyway.
        let sum = held.add(bytes, ordering: .relaxed).newValue
        guard sum <= limit else {
            held.subtract(bytes, ordering: .relaxed)
            return false
        }
        peak.max(sum, ordering: .relaxed)
        return true
    }
}

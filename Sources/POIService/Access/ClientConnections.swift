import Locking
import EventLoop
import HTTPServer

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

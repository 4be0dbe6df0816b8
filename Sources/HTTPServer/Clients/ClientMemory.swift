import EventLoop
import Locking
import Synchronization

/// Limits the memory that clients make the server hold, on all loops together: bodies as they arrive and what they unpack
/// to, unfinished heads, requests that wait behind others, and responses that aren't taken.
///
/// A client may have a share of it, so that one can't take it from all others. Any thread.
public final class ClientMemory: Sendable {
    /// How many bytes may be held.
    public let limit: Int
    /// How many bytes may be held for one client.
    let share: Int
    private let held = Atomic(0)
    private let peak = Atomic(0)
    private let heldOfClients = Lock<[IPAddress: Int]>([:])

    /// - Parameters:
    ///   - limit: in bytes.
    ///   - share: of one client; a body of maximum length, and what it unpacks to, should fit. A quarter, if it isn't given.
    public init(limit: Int = 32 << 20, share: Int? = nil) {
        self.limit = limit
        self.share = share ?? limit / 4
    }

    /// Number of bytes that are held now.
    public var heldBytes: Int { held.load(ordering: .relaxed) }

    /// Most bytes that were held at a time since the last call.
    package func takePeak() -> Int { peak.exchange(heldBytes, ordering: .relaxed) }

    /// Holds memory; false if there isn't enough left.
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

    /// Gives back memory that was held for the same client.
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

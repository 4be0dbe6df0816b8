/// A complete body in memory that has room for the response's head in front of it.
///
/// A handler takes memory by `RequestContext.takeResponseMemory`, writes the body from `headroom` on, and gives it back
/// by making this of it. The server writes the head into the room and sends both by one call.
public final class ResponseBody: @unchecked Sendable {
    // @unchecked: raw memory, whose accesses the compiler can't follow. Once it is here, one loop alone uses it: first
    // to read the body, then, when the response is sent, to take the memory back.

    /// Number of bytes in front of the body that belong to the head. A head that is longer is sent from elsewhere.
    public static let headroom = 1024

    private(set) var memory: UnsafeMutableRawBufferPointer
    private let end: Int

    /// Takes over memory that was made by `UnsafeMutableRawBufferPointer.allocate` with an alignment of at most 16.
    ///
    /// - Parameter end: where the body ends; it begins at `headroom`. Traps if that isn't inside the memory.
    public init(adopting memory: UnsafeMutableRawBufferPointer, end: Int) {
        precondition(end >= Self.headroom && end <= memory.count, "a body lies inside its memory")
        self.memory = memory
        self.end = end
    }

    deinit {
        memory.deallocate()
    }

    /// The body's bytes.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[Self.headroom..<end]) }

    /// Places a head right in front of the body; nil if the room doesn't suffice.
    func withHead(_ head: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard head.count <= Self.headroom, let base = memory.baseAddress, let source = head.baseAddress else {
            return nil
        }
        let start = Self.headroom - head.count
        (base + start).copyMemory(from: source, byteCount: head.count)
        return UnsafeRawBufferPointer(start: base + start, count: end - start)
    }

    /// Gives the memory away; the body is empty from then on, and isn't used any more.
    fileprivate func releaseMemory() -> UnsafeMutableRawBufferPointer {
        let released = memory
        memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        return released
    }
}

/// The memory that the responses of one loop are written into, used again and again. Confined to its loop.
final class ResponseMemory {
    /// Memory for the next body; empty while a handler has it.
    private var spare = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// Memory for heads, and for bodies that have no room for one.
    private var scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)

    /// Larger memory isn't kept, so that one large response doesn't fill memory for good.
    private static let maximumKeptBytes = 256 * 1024
    private static let minimumBytes = 16 * 1024

    deinit {
        spare.deallocate()
        scratch.deallocate()
    }

    /// Memory for a body, whose owner the caller becomes.
    func take(atLeast count: Int) -> UnsafeMutableRawBufferPointer {
        guard spare.count >= count, !spare.isEmpty else { return Self.make(atLeast: count) }
        let taken = spare
        spare = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        return taken
    }

    static func make(atLeast count: Int) -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: max(count, minimumBytes), alignment: 16)
    }

    /// Takes back the memory of a body that was sent, if nobody else has the body.
    func recycle(_ body: consuming ResponseBody) {
        guard isKnownUniquelyReferenced(&body), body.memory.count <= Self.maximumKeptBytes,
            body.memory.count > spare.count
        else { return }
        spare.deallocate()
        spare = body.releaseMemory()
    }

    /// Memory to encode a response into. Valid until the next call.
    func scratch(atLeast count: Int) -> UnsafeMutableRawBufferPointer {
        if scratch.count < count || scratch.count > Self.maximumKeptBytes {
            scratch.deallocate()
            scratch = Self.make(atLeast: count)
        }
        return scratch
    }
}

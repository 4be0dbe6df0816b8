/// Bytes that were received and not parsed yet.
struct InputBuffer {
    private(set) var bytes: [UInt8] = []
    /// Index of the first byte that isn't parsed.
    private(set) var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { start == bytes.count }

    mutating func append(_ more: RawSpan) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.reserveCapacity(bytes.count + more.byteCount)
        bytes.append(more)
    }

    mutating func consume(_ count: Int) {
        start += count
        if start >= bytes.count { removeAll() }
    }

    mutating func removeAll() {
        bytes = []
        start = 0
    }
}

extension [UInt8] {
    mutating func append(_ bytes: RawSpan) {
        bytes.withUnsafeBytes { append(contentsOf: $0) }
    }
}

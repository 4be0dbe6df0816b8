/// Bytes that wait to be parsed.
struct InputBuffer {
    private(set) var bytes: [UInt8] = []
    /// Where the bytes start that still wait.
    private(set) var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { start == bytes.count }

    mutating func append(_ more: UnsafeRawBufferPointer) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: more)
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

/// Bytes that grow at their end, in memory of their own.
///
/// An array would do, but for the price of its checks at every one of the thousands of small appends that an
/// answer is made of. The value can't be copied, so its memory has one owner.
struct ByteBuffer: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    /// Makes an empty buffer with room for that many bytes.
    init(capacity: Int) {
        memory = .allocate(byteCount: max(capacity, 64), alignment: 8)
    }

    deinit {
        memory.deallocate()
    }

    /// A copy of the bytes.
    var bytes: [UInt8] { Array(memory[..<count]) }

    /// Appends one byte.
    @inline(__always)
    mutating func append(_ byte: UInt8) {
        withRoom(for: 1) { end in
            end.storeBytes(of: byte, as: UInt8.self)
            return 1
        }
    }

    /// Appends bytes from elsewhere.
    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        withRoom(for: bytes.count) { end in
            end.copyMemory(from: source, byteCount: bytes.count)
            return bytes.count
        }
    }

    /// Appends a text of the program's own.
    @inline(__always)
    mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Makes room for at most so many bytes at the end and has them written there; `write` answers how many
    /// it wrote. One check for all that is written at once.
    @inline(__always)
    mutating func withRoom(for maximumCount: Int, _ write: (UnsafeMutableRawPointer) -> Int) {
        if memory.count - count < maximumCount { grow(by: maximumCount) }
        guard let start = memory.baseAddress else { return }
        count += write(start + count)
    }

    @inline(never)
    private mutating func grow(by needed: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(2 * memory.count, count + needed), alignment: 8)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
        memory.deallocate()
        memory = larger
    }
}

/// A buffer that bytes are appended to.
///
/// An array would do the same, but checks more at each of the thousands of small appends that make a response. The
/// value can't be copied, so its memory has one owner.
@usableFromInline
package struct ByteBuffer: ~Copyable {
    @usableFromInline var memory: UnsafeMutableRawBufferPointer
    /// How many bytes were appended.
    @usableFromInline package internal(set) var count = 0

    /// Makes an empty buffer with room for that many bytes.
    package init(capacity: Int = 256) {
        memory = .allocate(byteCount: max(capacity, 64), alignment: 8)
    }

    /// Makes a buffer of memory that already has `count` bytes; others are appended after them. It takes over the memory,
    /// which was allocated with an alignment of at most 16.
    package init(adopting memory: UnsafeMutableRawBufferPointer, count: Int) {
        precondition(count >= 0 && count <= memory.count, "the bytes lie inside their memory")
        self.memory = memory
        self.count = count
    }

    deinit {
        memory.deallocate()
    }

    /// Hands the memory over to the caller. Its first `count` bytes are used.
    package consuming func release() -> (memory: UnsafeMutableRawBufferPointer, count: Int) {
        let released = (memory, count)
        discard self
        return released
    }

    /// How many bytes it can have before it needs more memory.
    package var capacity: Int { memory.count }

    /// A copy of the bytes.
    package var bytes: [UInt8] { Array(unsafeBytes) }

    /// The bytes as UTF-8; what isn't UTF-8 is replaced.
    package var text: String { String(decoding: unsafeBytes, as: UTF8.self) }

    /// The bytes in place; valid until something is appended or removed.
    @inlinable
    @inline(__always)
    package var unsafeBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory.baseAddress, count: count)
    }

    /// Calls a closure with the bytes in place.
    @inlinable
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(unsafeBytes)
    }

    /// Calls a closure with a part of the bytes in place.
    @inlinable
    package func withBytes<Result>(
        in range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "a part of what is there")
        let start = memory.baseAddress.map { $0 + range.lowerBound }
        return try body(UnsafeRawBufferPointer(start: start, count: range.count))
    }

    /// Appends a part of another buffer.
    @inlinable
    @inline(__always)
    package mutating func append(_ range: Range<Int>, of other: borrowing ByteBuffer) {
        other.withBytes(in: range) { append($0) }
    }

    /// Appends the bytes to an array.
    package func append(to array: inout [UInt8]) { array.append(contentsOf: unsafeBytes) }

    /// Removes all bytes, and keeps the memory.
    @inlinable
    package mutating func removeAll() { count = 0 }

    /// Removes this many bytes from the end.
    package mutating func removeLast(_ dropped: Int) {
        precondition(dropped >= 0 && dropped <= count, "only what is there is dropped")
        count -= dropped
    }

    /// Appends one byte.
    @inlinable
    @inline(__always)
    package mutating func append(_ byte: UInt8) {
        withRoom(for: 1) { end in
            end.storeBytes(of: byte, as: UInt8.self)
            return 1
        }
    }

    /// Appends bytes from elsewhere.
    @inlinable
    @inline(__always)
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        withRoom(for: bytes.count) { end in
            end.copyMemory(from: source, byteCount: bytes.count)
            return bytes.count
        }
    }

    /// Appends an array's bytes.
    @inlinable
    @inline(__always)
    package mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

    /// Appends a part of an array.
    @inlinable
    package mutating func append(_ bytes: ArraySlice<UInt8>) { bytes.withUnsafeBytes { append($0) } }

    /// Appends a text's UTF-8.
    package mutating func append(utf8 text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// Appends the first of the sixteen bytes that two numbers hold, each number's lowest byte first.
    @inlinable
    @inline(__always)
    package mutating func append(low: UInt64, high: UInt64, count: Int = 16) {
        withRoom(for: 16) { end in
            end.storeBytes(of: low.littleEndian, as: UInt64.self)
            end.storeBytes(of: high.littleEndian, toByteOffset: 8, as: UInt64.self)
            return count
        }
    }

    /// Appends a number's bytes, the most significant first.
    @inlinable
    @inline(__always)
    package mutating func append(bigEndian number: some FixedWidthInteger) {
        withRoom(for: MemoryLayout.size(ofValue: number)) { end in
            end.storeBytes(of: number.bigEndian, as: type(of: number))
            return MemoryLayout.size(ofValue: number)
        }
    }

    /// Appends a literal text.
    @inlinable
    @inline(__always)
    package mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Makes room for at most `maximumCount` bytes at the end and calls `write` with the start of that room. `write`
    /// returns how many bytes it wrote. There is one check for all bytes that are written at once.
    @inlinable
    @inline(__always)
    package mutating func withRoom(for maximumCount: Int, _ write: (UnsafeMutableRawPointer) -> Int) {
        if memory.count - count < maximumCount { grow(by: maximumCount) }
        guard let start = memory.baseAddress else { return }
        let written = write(start + count)
        precondition(written <= maximumCount, "more was written than there was room for")
        count += written
    }

    @inline(never)
    @usableFromInline
    mutating func grow(by needed: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(2 * memory.count, count + needed), alignment: 8)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
        memory.deallocate()
        memory = larger
    }
}

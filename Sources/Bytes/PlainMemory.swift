#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension UnsafeBufferPointer<UInt8> {
    /// Whether these are the same bytes. The standard library's `elementsEqual` compares them one by one.
    @inlinable
    package func isSame(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count else { return false }
        guard count > 0, let here = baseAddress, let there = other.baseAddress else { return true }
        return memcmp(here, there, count) == 0
    }

    /// Whether these are the text's bytes.
    @inlinable @inline(__always)
    package func isSame(as text: StaticString) -> Bool {
        guard text.utf8CodeUnitCount == count else { return false }
        for index in 0..<count where text.utf8Start[index] != self[index] { return false }
        return true
    }

    /// The order of texts by their bytes, which for UTF-8 is that of their code points: less than 0 where this one comes first, 0
    /// where they are equal.
    package func compared(with other: UnsafeBufferPointer<UInt8>) -> Int {
        let common = Swift.min(count, other.count)
        if common > 0, let here = baseAddress, let there = other.baseAddress {
            let order = memcmp(here, there, common)
            if order != 0 { return Int(order) }
        }
        return count - other.count
    }

    /// Eight bytes as a number whose lowest byte is the first one.
    @inlinable @inline(__always)
    package func littleEndianEight(at index: Int) -> UInt64 {
        UInt64(
            littleEndian: UnsafeRawBufferPointer(self).loadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// Four bytes as a number whose lowest byte is the first one.
    @inlinable @inline(__always)
    package func littleEndianFour(at index: Int) -> UInt64 {
        UInt64(
            UInt32(
                littleEndian: UnsafeRawBufferPointer(self).loadUnaligned(
                    fromByteOffset: index, as: UInt32.self)))
    }

    /// The last eight bytes, or all if there are fewer, as a number that no others of the same count have.
    @inlinable @inline(__always)
    package var lastWord: UInt64 {
        switch count {
        case 0: 0
        case 1..<4: UInt64(self[0]) | UInt64(self[count / 2]) << 8 | UInt64(self[count - 1]) << 16
        case 4..<8: littleEndianFour(at: 0) | littleEndianFour(at: count - 4) << 32
        default: littleEndianEight(at: count - 8)
        }
    }
}

extension String {
    /// Whether two texts have the same bytes. Equal strings may have others, and the cost of comparing those is quadratic
    /// in a run of combining marks.
    package func hasSameBytes(as other: String) -> Bool {
        var (one, other) = (self, other)
        return one.withUTF8 { one in other.withUTF8 { one.isSame(as: $0) } }
    }
}

extension StaticString {
    /// See `UnsafeBufferPointer.lastWord`.
    package var lastWord: UInt64 { UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount).lastWord }
}

extension Hasher {
    /// Adds a text's bytes. Strings with other bytes may be equal, and finding that out for a long one is costly.
    package mutating func combine(bytesOf text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

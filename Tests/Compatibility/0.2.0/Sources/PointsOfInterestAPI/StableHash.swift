/// A hash that is the same in every process and release, unlike Swift's own: 64-bit FNV-1a
/// (draft-eastlake-fnv). Not for secrets.
package enum StableHash {
    /// The hash of no bytes.
    package static let basis: UInt64 = 0xcbf2_9ce4_8422_2325

    /// The hash of bytes; `seed` continues another hash.
    package static func hash(_ bytes: some Sequence<UInt8>, seed: UInt64 = basis) -> UInt64 {
        let inPlace = bytes.withContiguousStorageIfAvailable { hash($0, seed: seed) }
        return inPlace ?? bytes.reduce(seed, step)
    }

    /// The hash of bytes in memory.
    package static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = basis) -> UInt64 {
        var hash = seed
        for byte in bytes { hash = step(hash, byte) }
        return hash
    }

    /// The hash of a text's UTF-8.
    package static func hash(_ text: String, seed: UInt64 = basis) -> UInt64 {
        var text = text
        return text.withUTF8 { hash($0, seed: seed) }
    }

    /// The hash of a number's eight bytes, the most significant first.
    package static func hash(_ number: UInt64, seed: UInt64) -> UInt64 {
        var hash = seed
        for shift in stride(from: 56, through: 0, by: -8) {
            hash = step(hash, UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
        return hash
    }

    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>, seed: UInt64) -> UInt64 {
        var hash = seed
        for byte in bytes { hash = step(hash, byte) }
        return hash
    }

    @inline(__always)
    private static func step(_ hash: UInt64, _ byte: UInt8) -> UInt64 {
        (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
}

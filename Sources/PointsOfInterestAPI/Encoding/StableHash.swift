/// A hash that is the same in every process and release, unlike Swift's own: 64-bit FNV-1a
/// (draft-eastlake-fnv). Not for secrets.
package enum StableHash {
    /// The hash of bytes; `seed` continues another hash.
    @inlinable
    package static func hash(
        _ bytes: some Sequence<UInt8>, seed: UInt64 = 0xcbf2_9ce4_8422_2325
    ) -> UInt64 {
        var hash = seed
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }
}

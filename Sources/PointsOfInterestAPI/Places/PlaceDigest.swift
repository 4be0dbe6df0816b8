/// How two sides compare places without sending them: by sums of hashes.
///
/// Each place falls into one of 64 × 64 buckets, by a hash of its id. A bucket's sum is that of its places' terms, and a
/// group's that of its 64 buckets, so that it doesn't depend on their order. Where sums are equal, places are, but for a
/// chance of 2⁻⁶⁴. All arithmetic is of 64 bits and wraps around.
package enum PlaceDigest {
    package static let groupCount = 64
    package static let bucketsPerGroup = 64
    package static let bucketCount = groupCount * bucketsPerGroup

    /// Spreads the bits of a number over all (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014:
    /// the end of SplitMix64).
    package static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = number &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// The number of a place's bucket among all: its group's number times 64, and its own in there.
    package static func bucket(ofID id: Int64) -> Int {
        Int(mixed(UInt64(bitPattern: id)) >> 52)
    }

    /// The numbers of a group's buckets among all.
    package static func buckets(ofGroup group: Int) -> Range<Int> {
        group * bucketsPerGroup..<(group + 1) * bucketsPerGroup
    }

    /// What a place adds to its bucket's sum: the hash of its content, mixed with its id.
    package static func term(id: Int64, hash: UInt64) -> UInt64 {
        mixed(hash ^ mixed(~UInt64(bitPattern: id)))
    }
}

/// The sum and the number of some places.
package struct PlaceSum: Hashable, Sendable, BitwiseCopyable {
    package private(set) var count: UInt64 = 0
    package private(set) var sum: UInt64 = 0

    package init() {}

    package init(count: UInt64, sum: UInt64) { (self.count, self.sum) = (count, sum) }

    package mutating func add(id: Int64, hash: UInt64) {
        count &+= 1
        sum &+= PlaceDigest.term(id: id, hash: hash)
    }

    package mutating func add(_ other: PlaceSum) {
        count &+= other.count
        sum &+= other.sum
    }

    /// Both in one number, as it is sent; 0 where there is no place.
    package var value: UInt64 { count == 0 ? 0 : PlaceDigest.mixed(sum ^ PlaceDigest.mixed(count)) }
}

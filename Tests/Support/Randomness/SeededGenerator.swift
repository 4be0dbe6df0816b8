import Foundation

/// Random numbers that their seed brings back (SplitMix64), for tests, which have it printed.
///
/// Source: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", 2014.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    /// What makes the same numbers again, as the environment's `POI_TEST_SEED`.
    package let seed: UInt64
    private var state: UInt64

    /// Starts at a seed of its own, which it prints, or at the one in `POI_TEST_SEED`.
    package init(for test: String = #function) {
        let given = ProcessInfo.processInfo.environment["POI_TEST_SEED"].flatMap { UInt64($0) }
        self.init(seed: given ?? .random(in: 0 ... .max))
        print("\(test): POI_TEST_SEED=\(seed)")
    }

    /// Starts at a seed.
    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// The next 64 random bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

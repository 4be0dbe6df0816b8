/// The places that a search has found with the shortest chords, nearest first, in a caller's memory.
///
/// A place is one number: its squared chord as a `Float` above its number among all parts. Floats that aren't negative are
/// ordered as their bits are, so two places are compared at once.
struct NearestList {
    private let keys: UnsafeMutablePointer<UInt64>
    private let capacity: Int
    private(set) var count = 0
    /// Squared chords below this may still belong to the list.
    private(set) var bound: Float

    /// - Parameter bound: squared chords from this on are never taken.
    init(_ memory: UnsafeMutableBufferPointer<UInt64>, bound: Float) {
        guard let base = memory.baseAddress else { fatalError("a list without memory") }
        keys = base
        capacity = memory.count
        self.bound = bound
    }

    /// Whether the list is full: then there may be places that weren't taken only because others are nearer.
    var isFull: Bool { count == capacity }

    /// The number among all parts of the place at an index.
    func number(at index: Int) -> UInt32 { UInt32(truncatingIfNeeded: keys[index]) }

    /// Whether a place was taken.
    func contains(_ squaredChord: Float, _ number: UInt32) -> Bool {
        let key = UInt64(squaredChord.bitPattern) << 32 | UInt64(number)
        return (0..<count).contains { keys[$0] == key }
    }

    /// Takes a place whose squared chord is less than `bound`.
    @inline(__always)
    mutating func insert(_ squaredChord: Float, _ number: UInt32) {
        let key = UInt64(squaredChord.bitPattern) << 32 | UInt64(number)
        // A copy, so that the loop doesn't read the list's own memory.
        let keys = keys
        var index = count
        if count < capacity { count &+= 1 } else { index &-= 1 }
        while index > 0 {
            let before = keys[index &- 1]
            guard before > key else { break }
            keys[index] = before
            index &-= 1
        }
        keys[index] = key
        if count == capacity { bound = self.squaredChord(at: count &- 1) }
    }

    /// The squared chord of the place at an index.
    func squaredChord(at index: Int) -> Float {
        Float(bitPattern: UInt32(truncatingIfNeeded: keys[index] >> 32))
    }
}

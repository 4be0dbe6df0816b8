/// Some places of a part, as a bit for each.
final class PlaceSet {
    private let bits: Column<UInt64>

    /// A set of none of so many places, or of all.
    init(_ placeCount: Int, hasAll: Bool = false) {
        bits = Column(repeating: hasAll ? .max : 0, count: placeCount / 64 + 1)
    }

    deinit { bits.free() }

    /// A pass over the bits of so many places takes about as long as to look at one place of a list.
    static let placesForOne = 256

    var work: Int { bits.count / 32 }

    /// The work for adding so many listed places, which is less than a nanosecond each where the bits are in a cache.
    static func work(ofAdding count: Int) -> Int { count / 8 }

    @inline(__always)
    func contains(_ place: Int) -> Bool { PlaceBits.bit(place, of: bits.base) }

    @inline(__always)
    func insert(_ place: Int) { bits[place / 64] |= 1 << UInt64(place % 64) }

    @inline(__always)
    func remove(_ place: Int) { bits[place / 64] &= ~(1 << UInt64(place % 64)) }

    func insertAll() { bits.base.update(repeating: .max, count: bits.count) }

    /// Inserts a block of 64 places that follow each other.
    func insert(block: UInt32) { bits[Int(block)] = .max }

    func removeAll() { bits.base.update(repeating: 0, count: bits.count) }

    func insert(_ range: Range<Int>, of postings: Column<UInt32>) {
        for index in range { insert(Int(postings[index])) }
    }

    /// Removes all places that another set of the same part doesn't have.
    ///
    /// - Returns: how many are left.
    func formIntersection(with other: PlaceSet) -> Int {
        var count = 0
        for index in 0..<bits.count {
            bits[index] &= other.bits[index]
            count += bits[index].nonzeroBitCount
        }
        return count
    }

    var count: Int { (0..<bits.count).reduce(0) { $0 + bits[$1].nonzeroBitCount } }

    /// Calls `body` with each place, in order, until it returns false. Not for a set of all places.
    ///
    /// - Returns: whether it never did.
    @inline(__always)
    func forEach(_ body: (Int) -> Bool) -> Bool {
        for index in 0..<bits.count {
            var rest = bits[index]
            while rest != 0 {
                if !body(64 * index + rest.trailingZeroBitCount) { return false }
                rest &= rest &- 1
            }
        }
        return true
    }

    /// Keeps only the places that other lists have, too, as long as finding them takes less than to look at those that are left.
    ///
    /// - Parameters:
    ///   - lists: in ascending order of their lengths.
    ///   - count: how many places there are, at most; becomes how many are left.
    ///   - few: as many are looked at by themselves.
    /// - Returns: the work that this was.
    func restrict(to lists: some Sequence<any ListedPlaces>, _ count: inout Int, few: Int) -> Int {
        var (work, scratch): (Int, PlaceSet?) = (0, nil)
        for list in lists where Self.isWorthwhile(list.count, for: count, few: few) {
            let others = scratch ?? PlaceSet(64 * (bits.count - 1))
            if scratch != nil { others.removeAll() }
            list.insert(into: others)
            scratch = others
            count = min(count, formIntersection(with: others))
            work += 2 * self.work + Self.work(ofAdding: list.count)
        }
        return work
    }

    /// Whether finding out which of some places are in a list takes less than to look at each of them.
    static func isWorthwhile(_ listCount: Int, for count: Int, few: Int) -> Bool {
        count > few && listCount < maximumRatio * count
    }

    private static let maximumRatio = 64
}

/// Places of a part that are in a list, some of them more than once.
protocol ListedPlaces {
    /// How much it takes to go through them.
    var count: Int { get }
    func insert(into places: PlaceSet)
}

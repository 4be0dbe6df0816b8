import Geodesy
import PointsOfInterestAPI

/// The search for the shortest chords: depth first through trees of boxes, the nearest child first.
///
/// Boxes are compared as floats. The centre is rounded so that no computed distance to a box is too long, and what rounding
/// adds up to, less than a millionth, is subtracted.
struct ChordSearch {
    let point: SIMD3<Double>
    /// The centre as floats, rounded up and down.
    private let above, below: SIMD3<Float>
    /// Places with a shorter squared chord are before the page; 0 on the first page.
    private let innerBound: Float
    private let box: BoundingBox?
    /// For each level, a row with the distances to the 16 children of a node; for a child that was visited, it has `done`.
    /// After these is a row for a leaf's places.
    private let rows: UnsafeMutablePointer<Float>
    /// Only places of some lists are looked for; nil for all places.
    private var lists: PlaceLists?
    /// Whether a child is checked for more than its distance.
    private var isSelective: Bool
    var list: NearestList
    var work: WorkBudget

    /// More than any squared distance.
    private static let done: Float = 1e30
    /// A factor that covers more than the rounding of floats adds up to.
    private static let rounding: Float = 1 + 1e-6

    /// How many floats a search needs as its memory.
    static let rowsSize = (PackedTree.maximumLevelCount + 1) * PackedTree.width

    /// - Parameters:
    ///   - maximumMeters: how far places may be.
    ///   - rows: memory for `rowsSize` floats.
    ///   - keys: memory for as many places as are looked for.
    init(
        _ query: borrowing IndexQuery, maximumMeters: Double, rows: UnsafeMutablePointer<Float>,
        keys: UnsafeMutableBufferPointer<UInt64>, work: WorkBudget
    ) {
        box = query.box
        self.rows = rows
        self.work = work
        point = Ellipsoid.point(query.ranking.center)
        let rounded = SIMD3(Float(point.x), Float(point.y), Float(point.z))
        above = SIMD3(rounded.x.nextUp, rounded.y.nextUp, rounded.z.nextUp)
        below = SIMD3(rounded.x.nextDown, rounded.y.nextDown, rounded.z.nextDown)
        list = NearestList(keys, bound: Self.outerBound(maximumMeters))
        innerBound = Self.innerBound(query.ranking)
        isSelective = innerBound > 0 || box != nil
    }

    private static func outerBound(_ meters: Double) -> Float {
        let chord = Ranking.chordMeters(ofGeodesicBeyond: meters) + 0.001
        return min(done, Float(min(1e15, chord * chord)) * rounding)
    }

    /// The squared chord below which all geodesics are shorter than the distance of the previous page's end.
    private static func innerBound(_ ranking: Ranking) -> Float {
        guard let after = ranking.after, after.distanceMeters > 0 else { return 0 }
        let chord = max(0, Ranking.chordMeters(ofGeodesicAtMost: after.distanceMeters) - 0.001)
        return Float(chord * chord) / rounding
    }

    /// Looks for places of a part that are in one of some lists; returns false where the work is spent before that is done.
    mutating func search(_ lists: PlaceLists, of part: PartView, _ filter: PartFilter) -> Bool {
        let wasSelective = isSelective
        (self.lists, isSelective) = (lists, true)
        defer { (self.lists, isSelective) = (nil, wasSelective) }
        return search(part.columns.wholeTree, of: part, filter)
    }

    /// Looks for places in a tree; returns false where the work is spent before that is done.
    mutating func search(_ tree: PackedTree, of part: PartView, _ filter: PartFilter) -> Bool {
        let levels = TreeLevels(of: tree)
        lists?.begin(levels.count)
        guard levels.count > 0 else {
            if let lists { scan(lists, part, filter) } else { scan(0, of: tree, part, filter) }
            return !work.isSpent
        }
        var level = levels.count - 1
        var node = 0
        var row = rows + level * PackedTree.width
        let boxes = part.columns.boxes.base
        measure(boxes + levels[level] * PackedTree.blockSize, into: row)
        var nearest = Self.minimum(of: row)
        while true {
            if nearest >= list.bound * Self.rounding || nearest >= Self.done / 2 {
                level += 1
                if level == levels.count { return true }
                node /= PackedTree.width
                row = rows + level * PackedTree.width
                nearest = Self.minimum(of: row)
                continue
            }
            let child = Int(nearest.bitPattern & 15)
            row[child] = Self.done
            if work.isSpent { return false }
            if isSelective {
                let block = boxes + (levels[level] + node) * PackedTree.blockSize
                guard mayHoldPlaces(child, of: block),
                    mayHoldListed(node * PackedTree.width + child, at: level)
                else {
                    nearest = Self.minimum(of: row)
                    continue
                }
            }
            let next = node * PackedTree.width + child
            if level == 0 {
                // The next leaf is fetched while this one is scanned.
                nearest = Self.minimum(of: row)
                if nearest < list.bound {
                    let following = node * PackedTree.width + Int(nearest.bitPattern & 15)
                    part.columns.prefetchPoints(ofLeaf: following, of: tree)
                }
                if let lists {
                    scan(lists, part, filter)
                } else {
                    scan(next, of: tree, part, filter)
                }
            } else {
                level -= 1
                node = next
                row = rows + level * PackedTree.width
                measure(boxes + (levels[level] + node) * PackedTree.blockSize, into: row)
                nearest = Self.minimum(of: row)
                work.spend(WorkBudget.node)
            }
        }
    }

    // MARK: - Nodes

    /// Writes the squared distances to 16 boxes, with the children's numbers in their last four bits.
    private func measure(_ block: UnsafePointer<Float>, into row: UnsafeMutablePointer<Float>) {
        let width = PackedTree.width
        for child in 0..<16 {
            let x = Self.outside(block[child] - above.x, below.x - block[3 &* width &+ child])
            let y = Self.outside(block[width &+ child] - above.y, below.y - block[4 &* width &+ child])
            let z = Self.outside(block[2 &* width &+ child] - above.z, below.z - block[5 &* width &+ child])
            let square = x * x + y * y + z * z
            let bounded = square < Self.done ? square : Self.done
            row[child] = Float(bitPattern: bounded.bitPattern & ~15 | UInt32(truncatingIfNeeded: child))
        }
    }

    @inline(__always)
    private static func outside(_ below: Float, _ above: Float) -> Float {
        let outside = below > above ? below : above
        return outside > 0 ? outside : 0
    }

    /// The minimum of 16 numbers. It is computed in four lanes, of which the compiler makes one vector.
    private static func minimum(of row: UnsafeMutablePointer<Float>) -> Float {
        var lanes = (row[0], row[1], row[2], row[3])
        for index in 1..<4 {
            let next = (row[4 &* index], row[4 &* index &+ 1], row[4 &* index &+ 2], row[4 &* index &+ 3])
            lanes.0 = next.0 < lanes.0 ? next.0 : lanes.0
            lanes.1 = next.1 < lanes.1 ? next.1 : lanes.1
            lanes.2 = next.2 < lanes.2 ? next.2 : lanes.2
            lanes.3 = next.3 < lanes.3 ? next.3 : lanes.3
        }
        let (left, right) = (lanes.0 < lanes.1 ? lanes.0 : lanes.1, lanes.2 < lanes.3 ? lanes.2 : lanes.3)
        return left < right ? left : right
    }

    /// Whether a child isn't all before the page, nor outside of the query's box.
    private mutating func mayHoldPlaces(_ child: Int, of block: UnsafePointer<Float>) -> Bool {
        if innerBound > 0 {
            var square: Float = 0
            for axis in 0..<3 {
                let lower = block[axis * PackedTree.width + child]
                let upper = block[(axis + 3) * PackedTree.width + child]
                let across = max(above[axis] - lower, upper - below[axis])
                square += across * across
            }
            if square * Self.rounding < innerBound { return false }
        }
        guard let box else { return true }
        work.spend(WorkBudget.boxComparison)
        return SurfaceBounds(of: child, in: block).mayMeet(box)
    }

    /// Whether a child has places of the lists; where there are no lists, it may have some.
    private mutating func mayHoldListed(_ child: Int, at level: Int) -> Bool {
        guard let lists else { return true }
        work.spend(WorkBudget.place)
        return lists.descend(to: child, at: level)
    }

    // MARK: - Places

    /// Considers the places of the leaf that are in the lists.
    private mutating func scan(_ lists: PlaceLists, _ part: PartView, _ filter: PartFilter) {
        for list in 0..<lists.count {
            for index in lists.ofLeaf(list) {
                consider(Int(part.columns.words.postings[index]), of: part, filter, mayBeListed: true)
            }
        }
    }

    private mutating func scan(_ leaf: Int, of tree: PackedTree, _ part: PartView, _ filter: PartFilter) {
        let start = leaf * PackedTree.width
        let count = min(PackedTree.width, Int(tree.count) - start)
        work.spend(WorkBudget.place * count)
        if let listStart = tree.listStart {
            let places = part.columns.listedPlaces.base + Int(listStart) + start
            for index in 0..<count { consider(Int(places[index]), of: part, filter) }
        } else if count == PackedTree.width {
            scan(wholeLeafAt: start, part, filter)
        } else {
            for place in start..<start + count { consider(place, of: part, filter) }
        }
    }

    /// The same for 16 places that follow each other, whose chords are computed at once.
    private mutating func scan(wholeLeafAt start: Int, _ part: PartView, _ filter: PartFilter) {
        part.columns.prefetchIDAndRecordStart(of: start)
        part.columns.prefetchIDAndRecordStart(of: start &+ PackedTree.width / 2)
        let row = rows + PackedTree.maximumLevelCount * PackedTree.width
        let (xs, ys, zs) = (
            part.columns.x.base + start, part.columns.y.base + start, part.columns.z.base + start
        )
        let center = (point.x, point.y, point.z)
        for index in 0..<16 {
            let (x, y, z) = (xs[index] - center.0, ys[index] - center.1, zs[index] - center.2)
            row[index] = Float(x * x + y * y + z * z)
        }
        for index in 0..<16 where row[index] < list.bound {
            take(start &+ index, at: row[index], of: part, filter)
        }
    }

    /// Takes a place if it is near enough, and matches. With `mayBeListed` it may have been taken before, and isn't taken
    /// again.
    @inline(__always)
    mutating func consider(
        _ place: Int, of part: PartView, _ filter: PartFilter, mayBeListed: Bool = false
    ) {
        let x = part.columns.x[place] - point.x
        let y = part.columns.y[place] - point.y
        let z = part.columns.z[place] - point.z
        let square = Float(x * x + y * y + z * z)
        guard square < list.bound else { return }
        part.columns.prefetchIDAndRecordStart(of: place)
        take(place, at: square, of: part, filter, mayBeListed: mayBeListed)
    }

    @inline(__always)
    private mutating func take(
        _ place: Int, at square: Float, of part: PartView, _ filter: PartFilter, mayBeListed: Bool = false
    ) {
        guard square >= innerBound else { return }
        if filter.isNeeded {
            work.spend(filter.cost * WorkBudget.filteredPlace)
            guard filter.admits(place, of: part) else { return }
        }
        let number = part.base &+ UInt32(truncatingIfNeeded: place)
        if mayBeListed, list.contains(square, number) { return }
        list.insert(square, number)
    }
}

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
        // Whole groups of farther places are moved at once.
        while index >= 8, keys[index &- 8] > key {
            let group = UnsafeMutableRawPointer(keys + (index &- 8))
            let places = group.loadUnaligned(as: SIMD8<UInt64>.self)
            group.storeBytes(of: places, toByteOffset: MemoryLayout<UInt64>.stride, as: SIMD8<UInt64>.self)
            index &-= 8
        }
        while index > 0 {
            let before = keys[index &- 1]
            guard before > key else { break }
            keys[index] = before
            index &-= 1
        }
        keys[index] = key
        if count == capacity { bound = self.squaredChord(at: count &- 1) }
    }

    func squaredChord(at index: Int) -> Float {
        Float(bitPattern: UInt32(truncatingIfNeeded: keys[index] >> 32))
    }
}

import Geodesy
import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// What a search looks for.
package struct IndexQuery: Sendable {
    /// The order and where its page begins. Its limit is one more than the page's, see `Ranking(pageOf:)`.
    package var ranking: Ranking
    /// Only places in this box; nil is everywhere.
    package var box: BoundingBox?
    /// Only places that match.
    package var filter: IndexFilter

    @inlinable
    package init(ranking: Ranking, box: BoundingBox? = nil, filter: IndexFilter = IndexFilter()) {
        self.ranking = ranking
        self.box = box
        self.filter = filter
    }
}

/// Where a place is in a snapshot. It means nothing in another one.
package struct IndexPlaceReference: Hashable, Sendable {
    let part: UInt32
    let place: UInt32

    init(part: UInt32, place: UInt32) {
        self.part = part
        self.place = place
    }

    init(packed: Int) {
        self.init(part: UInt32(truncatingIfNeeded: packed >> 32), place: UInt32(truncatingIfNeeded: packed))
    }

    /// Both numbers in one.
    var packed: Int { Int(part) << 32 | Int(place) }
}

/// A page's places, the nearest first, and where it ends.
///
/// A page that isn't needed any more can be used for the next search, which then allocates nothing.
package struct IndexPage: Sendable {
    /// A place of the page.
    package struct Placed: Hashable, Sendable {
        /// Where the snapshot has it.
        package let reference: IndexPlaceReference
        package let id: Int64
        /// Its distance in metres, as `Ranking.Placed` has it.
        package let distanceMeters: Double

        package init(reference: IndexPlaceReference, id: Int64, distanceMeters: Double) {
            self.reference = reference
            self.id = id
            self.distanceMeters = distanceMeters
        }
    }

    /// The places, nearest first.
    package internal(set) var placed: [Placed] = []
    /// Where it ends; nil where no other page follows.
    package internal(set) var end: PagePosition?

    /// A page without places.
    package init() {}

    /// Replaces the places, in the memory of those before.
    @inline(__always)
    mutating func setPlaces(_ count: Int, _ place: (_ index: Int) -> Placed) {
        let unset = Placed(reference: IndexPlaceReference(part: 0, place: 0), id: 0, distanceMeters: 0)
        if placed.count > count { placed.removeLast(placed.count - count) }
        if placed.count < count { placed += repeatElement(unset, count: count - placed.count) }
        placed.withUnsafeMutableBufferPointer { memory in
            for index in memory.indices { memory[index] = place(index) }
        }
    }
}

/// Which places match, wherever they are.
package struct IndexFilter: Sendable {
    /// Only places of these categories, by their numbers in the snapshot's vocabulary. Nil means all, an empty array none.
    package var categories: [UInt16]?
    /// Only places of these sources: whether each source is included, at its number in the snapshot's vocabulary, with 0 for
    /// places without a source. Nil means all.
    package var sources: [Bool]?
    /// Only places that are featured, or that aren't; nil is both.
    package var isFeatured: Bool?
    /// Only places of which one name has all of these words. Nil means all, an empty array none.
    package var words: [QueryWord]?
    /// Only places that have one of some values of each of these properties. Nil means all.
    package internal(set) var properties: [PropertyWords]?

    /// Lets all places match.
    package init() {}

    /// Whether all places match.
    var isEmpty: Bool {
        categories == nil && sources == nil && isFeatured == nil && words == nil && properties == nil
    }

    /// Whether parts list the places that may match: those with a word, or with a value of a property.
    var isListed: Bool { words != nil || properties != nil }
}

/// The conditions of a query that the tree doesn't decide, so that each place of a part is checked for them.
///
/// Words are numbers of one part, so each part has a filter of its own.
struct PartFilter {
    /// Only places in this box.
    let box: BoundingBox?
    /// Whether places of each source match; nil where it doesn't matter.
    let sources: [Bool]?
    /// What the query's words ask for; nil without words.
    private(set) var words: WordConditions?
    /// What the query's properties ask for; nil without any.
    let properties: PropertyConditions?
    /// Whether there is any such condition, or a dead place.
    let isNeeded: Bool

    init(_ filter: borrowing IndexFilter, in box: BoundingBox?, for part: PartView) {
        self.box = box
        sources = filter.sources
        words = filter.words.map { WordConditions($0, part.columns.words) }
        properties = filter.properties == nil ? nil : PropertyConditions.of(filter, part)
        isNeeded =
            box != nil || sources != nil || words != nil || properties != nil || part.dead != nil
    }

    /// Finds the places that have all words somewhere, where many have even the rarest.
    mutating func gather(_ columns: WordColumns, _ work: inout WorkBudget) {
        words?.gather(columns, &work)
    }

    /// How much work the check of a place takes, as a multiple of the work of a check without words.
    var cost: Int { 1 + 2 * (words?.conditions.count ?? 0) + (properties?.cost ?? 0) }

    func admits(_ place: Int, of part: PartView) -> Bool {
        if part.isDead(place) { return false }
        if let box,
            !box.contains(latitude: part.columns.latitudes[place], longitude: part.columns.longitudes[place])
        {
            return false
        }
        if let sources, !sources[Int(part.columns.sources[place])] { return false }
        if let properties, !properties.admit(place, of: part.columns.words) { return false }
        return words?.admit(place, of: part.columns.words) ?? true
    }
}

extension IndexFilter {
    /// Whether no place can match.
    var matchesNothing: Bool {
        categories?.isEmpty == true || words?.isEmpty == true || sources?.contains(true) == false
    }

    /// Calls `body` with the trees of a part that have the matching places, until it returns false.
    ///
    /// - Returns: whether it was called for all of them.
    func forEachTree(of part: PartColumns, _ body: (PackedTree) -> Bool) -> Bool {
        guard let categories else {
            switch isFeatured {
            case nil: return body(part.wholeTree)
            case true: return part.featuredTree.count == 0 || body(part.featuredTree)
            case false:
                for index in PartColumns.firstKindTree..<part.trees.count
                where part.trees[index].kind & 1 == 0 {
                    guard body(part.trees[index]) else { return false }
                }
                return true
            }
        }
        for (index, category) in categories.enumerated() where !categories[..<index].contains(category) {
            for featured in [false, true] where isFeatured ?? featured == featured {
                let kind = PackedTree.kind(category: category, isFeatured: featured)
                if let tree = part.tree(ofKind: kind), !body(tree) { return false }
            }
        }
        return true
    }

    /// Whether places of a kind have a category that is asked for, and are featured as asked for.
    func admits(kind: UInt32) -> Bool {
        if let isFeatured, isFeatured != (kind & 1 == 1) { return false }
        return categories?.contains(UInt16(kind >> 1)) ?? true
    }
}

/// Says when a search is to end before it is done: nobody waits for it any more, or it has taken too long. Any thread.
package final class SearchStop: Sendable {
    /// Whether it has to end now.
    package let isDue: @Sendable () -> Bool

    /// - Parameter isDue: called on the searching thread about every half a millisecond. Once it has returned true, the
    ///   search ends.
    package init(_ isDue: @escaping @Sendable () -> Bool) {
        self.isDue = isDue
    }
}

/// How much work a search may still do, in units of ten to twenty nanoseconds, and what may end it earlier.
struct WorkBudget {
    /// What a loop may spend on one search: about a fifth of a millisecond. All its other clients wait meanwhile.
    static let ofATurn = 12_000
    /// The work for a node's block, for a place, and for a place that is checked by a filter.
    static let node = 15, place = 2, filteredPlace = 6
    /// The work for a place of a list, whose neighbours in the list aren't next to it in memory.
    static let listedPlace = 8
    /// The work for a geodesic that `geod_inverse` computes, for one that is bounded, however long it is, and for comparing a node's
    /// box with one of latitudes and longitudes.
    static let geodesic = 200, boundedGeodesic = 50, boxComparison = 40
    /// The work between two looks at `stop`.
    private static let slice = 30_000

    /// What may be done until the next look at `stop`.
    private var untilLook: Int
    /// What may be done after that.
    private var later: Int
    /// Nil if there is none, or if it has ended the search. Not retained, so that a copy costs nothing: the caller of the
    /// search keeps it alive.
    private var stop: Unmanaged<SearchStop>?

    /// A budget of this much work, which nothing ends earlier.
    init(remaining: Int) {
        (untilLook, later, stop) = (remaining, 0, nil)
    }

    /// A budget of as much work as it takes, unless `stop` ends the search. The caller keeps `stop` alive.
    init(until stop: SearchStop) {
        (untilLook, later) = (Self.slice, .max / 2)
        self.stop = Unmanaged.passUnretained(stop)
    }

    /// How much is left.
    var remaining: Int { untilLook + later }

    /// A budget of at most `work` of what is left.
    func prefix(_ work: Int) -> WorkBudget {
        var part = self
        part.untilLook = min(untilLook, work)
        part.later = min(later, work - part.untilLook)
        return part
    }

    mutating func spend(_ work: Int) { untilLook &-= work }

    /// Whether nothing is left, or the search is to end. Looks at `stop` when that is due.
    var isSpent: Bool {
        mutating get { untilLook < 0 && !goOn() }
    }

    private mutating func goOn() -> Bool {
        if let stop, stop._withUnsafeGuaranteedRef({ $0.isDue() }) {
            (later, self.stop) = (0, nil)
            return false
        }
        let more = min(later, Self.slice - untilLook)
        untilLook += more
        later -= more
        return untilLook >= 0
    }
}

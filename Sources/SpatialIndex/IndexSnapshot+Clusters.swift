import PointsOfInterestServerAPI

/// The matching places of one cell.
package struct IndexCluster: Sendable {
    /// Their number, mean position and box.
    package let sum: ClusterSum
    /// The place, where it is the only one.
    package let place: IndexPlaceReference?
}

/// Counts places in the cells of a map, on any thread that holds the snapshot.
///
/// A cell's places are a range in the order of quadkeys, and the sums of whole blocks of that order are known. So without a
/// filter, only the places at the ends of such ranges are looked at. With a filter, places are looked at one by one: those in
/// the cells, or those of the categories or of the rarest word or property, whichever are fewer.
extension IndexSnapshot {
    /// Counts, if that takes no longer than a loop may spend on one search.
    ///
    /// - Returns: the cells with places, in the cells' order; nil where it takes longer: `clusters` counts on a helper thread.
    package func clustersAtOnce(in cells: ClusterCells, _ filter: IndexFilter) -> [IndexCluster]? {
        clusters(in: cells, filter, WorkBudget(remaining: WorkBudget.ofATurn))
    }

    /// The same, however long that takes; nil where `stop` has ended the count.
    package func clusters(
        in cells: ClusterCells, _ filter: IndexFilter, until stop: SearchStop = SearchStop { false }
    ) -> [IndexCluster]? {
        withExtendedLifetime(stop) { clusters(in: cells, filter, WorkBudget(until: stop)) }
    }

    func clusters(in cells: ClusterCells, _ filter: IndexFilter, _ work: WorkBudget) -> [IndexCluster]? {
        guard !filter.matchesNothing else { return [] }
        return withUnsafeTemporaryAllocation(of: CellCount.self, capacity: cells.count) { counts in
            counts.initialize(repeating: CellCount())
            var counting = ClusterCounting(cells: cells, filter: filter, counts: counts, work: work)
            for part in views {
                guard counting.count(part) else { return nil }
            }
            return counts.lazy.filter { $0.sum.count > 0 }.map { count in
                IndexCluster(
                    sum: count.sum, place: count.sum.count == 1 ? reference(count.lastPlace) : nil)
            }
        }
    }
}

struct CellCount: BitwiseCopyable {
    var sum = ClusterSum()
    /// The number among all parts of the place that was last added by itself. If the cell has one place, it is the number of
    /// that place.
    var lastPlace: UInt32 = 0
}

/// A count that is under way.
struct ClusterCounting {
    let cells: ClusterCells
    let filter: IndexFilter
    let counts: UnsafeMutableBufferPointer<CellCount>
    private(set) var work: WorkBudget

    init(
        cells: ClusterCells, filter: IndexFilter, counts: UnsafeMutableBufferPointer<CellCount>,
        work: WorkBudget
    ) {
        self.cells = cells
        self.filter = filter
        self.counts = counts
        self.work = work
    }

    /// Counts the places of a part; false where the work is spent before that is done.
    mutating func count(_ part: PartView) -> Bool {
        guard filter.isEmpty else { return countMatching(part) }
        part.columns.tiles.forEachCell(of: cells) { cell, range in addAll(range, of: part, to: cell) }
        return !work.isSpent
    }

    /// Adds a range of places in the order of quadkeys: those at its ends and in blocks with dead ones one by one.
    private mutating func addAll(_ range: Range<Int>, of part: PartView, to cell: Int) {
        let (blocks, size) = (part.columns.tiles.blocks, TileOrder.blockSize)
        var index = range.lowerBound
        while index < range.upperBound {
            let block = index / size
            if index == block * size, index + size <= range.upperBound, !part.hasDead(inBlock: block) {
                counts[cell].sum.add(blocks[block])
                index += size
                continue
            }
            let end = min((block + 1) * size, range.upperBound)
            work.spend(end - index)
            guard !work.isSpent else { return }
            for place in index..<end { add(Int(part.columns.tiles.places[place]), of: part, to: cell) }
            index = end
        }
    }

    @inline(__always)
    private func add(_ place: Int, of part: PartView, to cell: Int) {
        guard !part.isDead(place) else { return }
        counts[cell].sum.add(
            latitude: part.columns.latitudes[place], longitude: part.columns.longitudes[place])
        counts[cell].lastPlace = part.base + UInt32(truncatingIfNeeded: place)
    }

    // MARK: - With a filter

    private mutating func countMatching(_ part: PartView) -> Bool {
        var matching = PartFilter(filter, in: nil, for: part)
        var (placesInCells, listedPlaces) = (0, 0)
        part.columns.tiles.forEachCell(of: cells) { placesInCells += $1.count }
        forEachListed(of: part.columns, matching) { listedPlaces += $0.count(in: part.columns) }
        var listCost = WorkBudget.listedPlace * listedPlaces
        if let cost = matching.words?.gatherCost(part.columns.words),
            cost < matching.cost * min(placesInCells, listCost)
        {
            guard cost <= work.remaining else { return false }
            matching.gather(part.columns.words, &work)
            listCost = WorkBudget.listedPlace * (matching.listedCount(part.columns) ?? listedPlaces)
        }
        let isListSlower = placesInCells <= listCost
        // Doesn't begin what can't be finished with the work that is left.
        guard matching.cost * min(placesInCells, listCost) <= work.remaining else { return false }
        if isListSlower {
            part.columns.tiles.forEachCell(of: cells) { cell, range in
                addMatching(range, of: part, matching, to: cell)
            }
        } else {
            forEachListed(of: part.columns, matching) { list in addMatching(list, of: part, matching) }
        }
        return !work.isSpent
    }

    /// Adds the matching places of a range in the order of quadkeys.
    private mutating func addMatching(
        _ range: Range<Int>, of part: PartView, _ matching: PartFilter, to cell: Int
    ) {
        for index in range {
            work.spend(matching.cost)
            guard !work.isSpent else { return }
            let place = Int(part.columns.tiles.places[index])
            guard filter.admits(kind: part.columns.kinds[place]), matching.admits(place, of: part)
            else { continue }
            add(place, of: part, to: cell)
        }
    }

    private mutating func addMatching(_ list: PlaceList, of part: PartView, _ matching: PartFilter) {
        list.forEach(of: part.columns) { place in
            work.spend(matching.cost * WorkBudget.listedPlace)
            guard !work.isSpent else { return false }
            if let cell = cells.cell(of: part.columns.tiles.quadkeys[place]),
                list.isOfAskedKinds || filter.admits(kind: part.columns.kinds[place]),
                matching.admits(place, of: part)
            {
                add(place, of: part, to: cell)
            }
            return true
        }
    }

    /// Calls `body` with lists that have all matching places, each once: those of the rarest word or property, else of the
    /// categories.
    private func forEachListed(
        of columns: PartColumns, _ matching: PartFilter, _ body: (PlaceList) -> Void
    ) {
        if let places = matching.words?.candidates { return body(.places(places)) }
        switch matching.rarest(of: columns) {
        case .word(let word): return body(.words(word))
        case .property(let property): return body(.property(property))
        case nil: break
        }
        _ = filter.forEachTree(of: columns) { tree in
            body(.tree(tree))
            return true
        }
    }
}

private enum PlaceList {
    /// Those that fulfil the condition of a word, but of a run only for one part.
    case words(WordCondition)
    /// Those that have all words somewhere.
    case places(PlaceSet)
    /// Those that have one of the values of a property.
    case property(PropertyCondition)
    case tree(PackedTree)

    /// Whether all of its places have a category that is asked for, and are featured as asked for.
    var isOfAskedKinds: Bool {
        if case .tree = self { true } else { false }
    }

    /// How many entries it has.
    func count(in columns: PartColumns) -> Int {
        switch self {
        case .words(let condition): WordPostings(condition, columns.words).count
        case .places(let places): places.count
        case .property(let property): property.count
        case .tree(let tree): Int(tree.count)
        }
    }

    /// Calls `body` with each place, once, until it returns false.
    @inline(__always)
    func forEach(of columns: PartColumns, _ body: (Int) -> Bool) {
        switch self {
        case .words(let condition):
            let (words, spelledOut) = (condition.words, condition.spelledOut)
            guard Self.forEach(ofWords: words, butNot: 0..<0, of: columns.words, body) else { return }
            _ = Self.forEach(ofWords: spelledOut, butNot: words, of: columns.words, body)
        case .places(let places): _ = places.forEach(body)
        case .property(let property): property.forEachPlace(of: columns.words, body)
        case .tree(let tree):
            for index in 0..<Int(tree.count) {
                let place = tree.listStart.map { Int(columns.listedPlaces[Int($0) + index]) } ?? index
                guard body(place) else { return }
            }
        }
    }
    /// Calls `body` with each place that has one of `words` and none of `others`, once, until it returns false.
    ///
    /// - Returns: whether it was called for all of them.
    @inline(__always)
    private static func forEach(
        ofWords words: Range<UInt32>, butNot others: Range<UInt32>, of columns: WordColumns,
        _ body: (Int) -> Bool
    ) -> Bool {
        for word in words {
            for index in columns.postingRange(of: word..<word + 1) {
                let place = Int(columns.postings[index])
                // A place with several of the words is listed with each.
                let isRepeated =
                    word > words.lowerBound
                    && columns.has(oneOf: words.lowerBound..<word, in: columns.range(of: place))
                    || !others.isEmpty && columns.has(oneOf: others, in: columns.range(of: place))
                if !isRepeated, !body(place) { return false }
            }
        }
        return true
    }
}

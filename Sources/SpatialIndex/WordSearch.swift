/// The search by words, and by values of properties, which are words, too.
///
/// The places of the rarest word are looked at one by one if they are few. If they are many, some that match are most likely near,
/// so the trees are walked; where the rarest word's places are in few lists, only to nodes that have some of them. Where that takes
/// much longer than it would with words that are spread evenly, or is known to, the places that have all words somewhere are found
/// first: one pass over the words' lists, and one over the trees, is the most that a search costs.
extension IndexSnapshot {
    /// A walk looks at this many times as many places as there are within the distance of the page's last place.
    private static let walkFactor = 4.0
    /// A walk to the places of lists costs as many times less work as it passes places.
    private static let listedShare = 2
    /// A walk that finds no page passes so many places in the time in which one is looked at by itself.
    private static let walkedShare = 64

    /// About how many places a walk looks at until it has found enough that match, if words are spread evenly and
    /// independent of each other.
    private func walkLength(_ query: IndexQuery, _ filters: [PartFilter]) -> Int {
        var length = Self.walkFactor * Double(query.ranking.limit)
        for word in (query.filter.words ?? []).indices {
            let count = zip(views, filters).reduce(0) { sum, part in
                sum
                    + (part.1.words.map { WordPostings($0.conditions[word], part.0.columns.words).count } ?? 0)
            }
            length *= Double(placeCount) / Double(max(1, count))
        }
        for property in (query.filter.properties ?? []).indices {
            let count = filters.reduce(0) { $0 + ($1.properties?.conditions[property].count ?? 0) }
            length *= Double(placeCount) / Double(max(1, count))
        }
        return Int(min(length, 1e9))
    }

    /// For each part, the lists of the places of the rarest word; nil where there are many, or where categories have trees of their
    /// own to be walked.
    private func rarestLists(_ query: IndexQuery, _ filters: [PartFilter]) -> [[Range<Int>]]? {
        guard query.filter.categories == nil, query.filter.isFeatured == nil else { return nil }
        var lists: [[Range<Int>]] = []
        for (part, filter) in zip(views, filters) {
            guard let ranges = filter.rarestPostings(part.columns)?.ranges(of: part.columns.words) else {
                return nil
            }
            lists.append(ranges)
        }
        return lists
    }

    /// Looks for the places that have all words; false if the work was spent.
    func searchWords(_ query: IndexQuery, _ filters: inout [PartFilter], _ search: inout ChordSearch) -> Bool
    {
        let postingCount = zip(views, filters).reduce(0) { $0 + ($1.1.listedCount($1.0.columns) ?? 0) }
        guard postingCount > placeCount / PlaceSet.placesForOne else {
            return lookAtListed(query, filters, &search)
        }
        let walkLength = walkLength(query, filters)
        let lists = rarestLists(query, filters)
        let walkCost =
            lists == nil
            ? walkLength * (filters.first?.cost ?? 1) * WorkBudget.filteredPlace
            : walkLength / Self.listedShare
        let gatherCost = zip(views, filters).reduce(placeCount / 4) { sum, part in
            sum + (part.1.words?.gatherCost(part.0.columns.words) ?? 0)
        }
        // Doesn't begin what can't be finished with the work that is left.
        guard min(walkCost, gatherCost) <= search.work.remaining else { return false }
        if walkCost < gatherCost {
            var walking = search
            let budget = min(2 * walkCost, search.work.remaining)
            walking.work = search.work.prefix(budget)
            let isDone = lists.map { walk($0, filters, &walking) } ?? walk(query, filters, &walking)
            search.work.spend(budget - walking.work.remaining)
            if isDone {
                search.list = walking.list
                return true
            }
            // The list is still empty: only its copy in `walking` was filled.
        }
        for (index, part) in views.enumerated() {
            filters[index].gather(part.columns.words, &search.work)
            if search.work.isSpent { return false }
        }
        let count = zip(views, filters).reduce(0) { $0 + ($1.1.listedCount($1.0.columns) ?? 0) }
        return count > placeCount / Self.walkedShare
            ? walk(query, filters, &search) : lookAtListed(query, filters, &search)
    }

    /// Looks one by one at the places that have all words somewhere, or at those of the rarest word or property; false if the work was
    /// spent.
    private func lookAtListed(_ query: IndexQuery, _ filters: [PartFilter], _ search: inout ChordSearch)
        -> Bool
    {
        for (part, filter) in zip(views, filters) {
            if let places = filter.words?.candidates {
                let isDone = places.forEach { place in
                    if query.filter.admits(kind: part.columns.kinds[place]) {
                        search.consider(place, of: part, filter)
                    }
                    search.work.spend(WorkBudget.place)
                    return !search.work.isSpent
                }
                guard isDone else { return false }
                continue
            }
            guard let rarest = filter.rarestPostings(part.columns) else { continue }
            for index in 0..<rarest.count {
                let place = Int(part.columns.words.postings[rarest[index]])
                if query.filter.admits(kind: part.columns.kinds[place]) {
                    search.consider(place, of: part, filter, mayBeListed: true)
                }
                search.work.spend(WorkBudget.listedPlace)
                if search.work.isSpent { return false }
            }
        }
        return true
    }

    /// Looks only for places of some lists of each part; false where the work was spent.
    private func walk(_ lists: [[Range<Int>]], _ filters: [PartFilter], _ search: inout ChordSearch) -> Bool {
        views.indices.allSatisfy { part in
            let size = PlaceLists.levelsSize(lists[part].count)
            return withUnsafeTemporaryAllocation(of: Range<Int>.self, capacity: max(1, size)) { levels in
                lists[part].withUnsafeBufferPointer { ranges in
                    guard let base = levels.baseAddress else { return false }
                    levels.initialize(repeating: 0..<0)
                    let lists = PlaceLists(ranges, base, views[part].columns.words.postings)
                    return search.search(lists, of: views[part], filters[part])
                }
            }
        }
    }
}

/// Lists of places that a walk looks for, as ranges of a part's postings that ascend, in a caller's memory.
///
/// A node's places follow each other, so those of a list that are in a node are a range of it. Each level of the walk has those of
/// its node, within which those of its children are looked for.
struct PlaceLists {
    let count: Int
    private let lists: UnsafeBufferPointer<Range<Int>>
    /// For each level, leaves first, the ranges of the node where the walk is.
    private let levels: UnsafeMutablePointer<Range<Int>>
    private let postings: Column<UInt32>

    /// How many ranges a search needs as its memory.
    static func levelsSize(_ count: Int) -> Int { count * (PackedTree.maximumLevelCount + 1) }

    init(
        _ lists: UnsafeBufferPointer<Range<Int>>, _ levels: UnsafeMutablePointer<Range<Int>>,
        _ postings: Column<UInt32>
    ) {
        count = lists.count
        (self.lists, self.levels, self.postings) = (lists, levels, postings)
    }

    /// Begins at the root of a tree of so many levels of nodes.
    func begin(_ levelCount: Int) {
        for list in 0..<count { levels[levelCount * count + list] = lists[list] }
    }

    /// Goes to a child of the node where the walk is; whether it has any places of the lists.
    func descend(to child: Int, at level: Int) -> Bool {
        let size = PackedTree.width << (PackedTree.widthBits * level)
        var hasPlaces = false
        for list in 0..<count {
            let range = levels[(level + 1) * count + list]
            let first = postings.firstIndex(in: range, from: child * size)
            let end = postings.firstIndex(in: first..<range.upperBound, from: (child + 1) * size)
            levels[level * count + list] = first..<end
            hasPlaces = hasPlaces || first < end
        }
        return hasPlaces
    }

    func ofLeaf(_ list: Int) -> Range<Int> { levels[list] }
}

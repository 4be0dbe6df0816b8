/// The search by words, and by values of properties, which are words, too.
///
/// The places of the rarest word are looked at one by one if they are few. If they are many, some are most likely near, so
/// the trees are walked first; where the rarest word's places are in few lists, only to nodes that have some of them. If that takes
/// much longer than it would with words that are spread evenly, the places of the rarest word are looked at after all, which is
/// the most that a search costs.
extension IndexSnapshot {
    /// A walk looks at this many times as many places as there are within the distance of the page's last place.
    private static let walkFactor = 4.0
    /// A walk to the places of lists costs as many times less work as it passes places.
    private static let listedShare = 2

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
    func searchWords(_ query: IndexQuery, _ search: inout ChordSearch) -> Bool {
        let filters = views.map { PartFilter(query.filter, in: query.box, for: $0) }
        let postingCount = zip(views, filters).reduce(0) { sum, part in
            sum + (part.1.rarestPostings(part.0.columns)?.count ?? 0)
        }
        let walkLength = walkLength(query, filters)
        let listCost = postingCount * WorkBudget.listedPlace
        let lists = rarestLists(query, filters)
        // Doesn't begin what can't be finished with the work that is left.
        let walkCost =
            lists == nil
            ? walkLength * (filters.first?.cost ?? 1) * WorkBudget.filteredPlace
            : walkLength / Self.listedShare
        guard min(walkCost, listCost) <= search.work.remaining else { return false }
        if lists == nil ? walkLength < postingCount : walkCost < listCost {
            var walking = search
            // Keeps enough work to look at all postings afterwards, if there is enough for that at all.
            let kept = listCost + WorkBudget.ofATurn / 8
            let remaining = search.work.remaining
            let budget = min(2 * walkCost, kept < remaining ? remaining - kept : remaining)
            walking.work = search.work.prefix(budget)
            let isDone = lists.map { walk($0, filters, &walking) } ?? walk(query, &walking)
            search.work.spend(budget - walking.work.remaining)
            if isDone {
                search.list = walking.list
                return true
            }
            // The list is still empty: only its copy in `walking` was filled.
        }
        for (part, filter) in zip(views, filters) {
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
    ///
    /// - Parameter level: that of the node; 0 where its children are leaves.
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

    /// The range of a list in the leaf where the walk is.
    func ofLeaf(_ list: Int) -> Range<Int> { levels[list] }
}

/// The search by words.
///
/// The places of the rarest word are looked at one by one if they are few. If they are many, some are most likely near, so
/// the trees are walked first. If that takes much longer than it would with words that are spread evenly, the places of
/// the rarest word are looked at after all, which is the most that a search costs.
extension IndexSnapshot {
    /// A walk looks at this many times as many places as there are within the distance of the page's last place.
    private static let walkFactor = 4.0

    /// About how many places a walk looks at until it has found enough that match, if words are spread evenly and
    /// independent of each other.
    private func walkLength(_ query: IndexQuery, _ filters: [PartFilter]) -> Int {
        var length = Self.walkFactor * Double(query.ranking.limit)
        for word in (query.filter.words ?? []).indices {
            let count = zip(views, filters).reduce(0) { sum, part in
                sum + (part.1.words.map { part.0.columns.words.postingRange(of: $0[word]).count } ?? 0)
            }
            length *= Double(placeCount) / Double(max(1, count))
        }
        return Int(min(length, 1e9))
    }

    /// Looks for the places that have all words; false if the work was spent.
    func searchWords(_ query: IndexQuery, _ search: inout ChordSearch) -> Bool {
        let filters = views.map { PartFilter(query.filter, in: query.box, for: $0) }
        let postingCount = zip(views, filters).reduce(0) { sum, part in
            sum + (part.1.rarestPostings(part.0.columns)?.count ?? 0)
        }
        let walkLength = walkLength(query, filters)
        let listCost = postingCount * WorkBudget.listedPlace
        // Doesn't begin what can't be finished with the work that is left.
        let walkCost = walkLength * (filters.first?.cost ?? 1) * WorkBudget.filteredPlace
        guard min(walkCost, listCost) <= search.work.remaining else { return false }
        if walkLength < postingCount {
            var walking = search
            // Keeps enough work to look at all postings afterwards, if there is enough for that at all.
            let kept = listCost + WorkBudget.ofATurn / 8
            let remaining = search.work.remaining
            let budget = min(2 * walkCost, kept < remaining ? remaining - kept : remaining)
            walking.work = search.work.prefix(budget)
            let isDone = walk(query, &walking)
            search.work.spend(budget - walking.work.remaining)
            if isDone {
                search.list = walking.list
                return true
            }
            // The list is still empty: only its copy in `walking` was filled.
        }
        for (part, filter) in zip(views, filters) {
            for index in filter.rarestPostings(part.columns) ?? 0..<0 {
                let place = Int(part.columns.words.postings[index])
                if query.filter.admits(kind: part.columns.kinds[place]) {
                    search.consider(place, of: part, filter, mayBeListed: true)
                }
                search.work.spend(WorkBudget.listedPlace)
                if search.work.isSpent { return false }
            }
        }
        return true
    }
}

extension PartFilter {
    /// The postings of the word that the fewest places have; nil without words.
    func rarestPostings(_ columns: PartColumns) -> Range<Int>? {
        rarestWord(columns).map { columns.words.postingRange(of: $0) }
    }

    /// The part's words that begin with the query's rarest word; nil without words.
    func rarestWord(_ columns: PartColumns) -> Range<UInt32>? {
        words?.min {
            columns.words.postingRange(of: $0).count < columns.words.postingRange(of: $1).count
        }
    }
}

import Geodesy
import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// Searches by relevance, on any thread that holds the snapshot.
extension IndexSnapshot {
    /// The page, if finding it takes no longer than a loop may spend on one search; nil if it takes longer.
    package func searchAtOnce(_ query: RelevanceQuery) -> RelevancePage? {
        find(query, work: WorkBudget(remaining: WorkBudget.ofATurn))
    }

    /// The page, however long that takes; nil where `stop` has ended the search.
    package func search(_ query: RelevanceQuery, until stop: SearchStop = SearchStop { false })
        -> RelevancePage?
    {
        withExtendedLifetime(stop) { find(query, work: WorkBudget(until: stop)) }
    }

    private func find(_ query: RelevanceQuery, work: WorkBudget) -> RelevancePage? {
        guard !query.words.isEmpty, query.limit > 0, !query.filter.matchesNothing else {
            return RelevancePage()
        }
        var search = RelevanceSearch(query, self, work: work)
        return search.run() ? search.page() : nil
    }
}

/// The search for the places that a text finds best.
///
/// The classes are looked for one after the other, until the page is full: the names that are the text, by their rarest word;
/// those that begin with it, by the rarest word but the last one; those that have its words, by the word that the fewest places
/// may have; those that have its first words only, by the rarest of them; and last those with an error, by the words that differ by
/// one. Each is a list of places. Of a place of a list is looked at what is cheap first: whether one so important and so near could
/// still be on the page, at best.
private struct RelevanceSearch {
    private let query: RelevanceQuery
    private let distances: Distances
    private let parts: [RelevancePart]
    private var best: RelevanceList
    private let surroundings: Surroundings
    private var work: WorkBudget

    /// The work for a place of a list that isn't looked at any further; for one that is, without and for each word.
    private static let listedWork = 1, placeWork = 6, wordWork = 3
    /// A list has few places if another one has more than so many times as many.
    private static let fewFactor = 4
    /// The work for comparing a word with another for an error.
    private static let comparisonWork = 3

    init(_ query: RelevanceQuery, _ snapshot: IndexSnapshot, work: WorkBudget) {
        var work = work
        self.query = query
        distances = Distances(query.center, snapshot.views)
        parts = snapshot.views.enumerated().map { RelevancePart(query, $1, number: UInt32($0), &work) }
        self.work = work
        best = RelevanceList(query)
        surroundings = Surroundings(query.words, snapshot.vocabulary)
    }

    /// Finds the places; false where the work was spent.
    mutating func run() -> Bool {
        guard !work.isSpent, lookForWords() else { return false }
        if !best.isFull, query.words.count > 1 {
            guard parts.allSatisfy({ lookForSurroundings(in: $0) }) else { return false }
        }
        guard !best.isFull else { return true }
        return parts.allSatisfy { lookForErrors(in: $0) }
    }

    /// Looks for names that have all words, first for those that are the text, then for those that begin with it.
    private mutating func lookForWords() -> Bool {
        var lists: [RelevancePostings] = []
        for part in parts {
            let sorted = part.postings.sorted { $0.count < $1.count }
            restrict(part, to: sorted.dropFirst(), of: sorted[0].count)
            lists.append(sorted[0])
            guard let whole = part.words.rarestWhole(ofFirst: part.words.wholes.count) else { continue }
            guard look(at: whole, of: part, for: .name) else { return false }
        }
        // All words but the last one are whole words of a name that begins with the text. Where few places have these, only the
        // most important of the others are looked at.
        let begun = zip(parts, lists).map { part, list in
            let whole = part.words.rarestWhole(ofFirst: part.words.wholes.count - 1)
            return whole.flatMap { Self.fewFactor * $0.count < list.count ? $0 : nil }
        }
        return parts.indices.allSatisfy { look(at: begun[$0] ?? lists[$0], of: parts[$0], for: .beginning) }
            && parts.indices.allSatisfy {
                begun[$0] == nil || look(at: lists[$0], of: parts[$0], for: .words)
            }
    }

    /// Looks for names that have the first words, of places that have the others elsewhere.
    private mutating func lookForSurroundings(in part: RelevancePart) -> Bool {
        let neededCount = surroundings.neededCount(part.view.columns)
        guard neededCount < query.words.count else { return true }
        let needed = part.postings.prefix(neededCount).sorted { $0.count < $1.count }
        restrict(part, to: needed.dropFirst(), of: needed[0].count)
        // Words between those and the last one may be in a name or elsewhere.
        let others = neededCount..<query.words.count - 1
        if let rarest = others.min(by: { part.postings[$0].count < part.postings[$1].count }),
            part.postings[rarest].count < needed[0].count
        {
            work.spend(part.need(rarest))
        }
        return look(at: needed[0], of: part, for: .surroundings)
    }

    private mutating func lookForErrors(in part: RelevancePart) -> Bool {
        for word in query.words.indices {
            work.spend(Self.comparisonWork * part.words.findErrors(ofWord: word))
            if work.isSpent { return false }
        }
        for word in query.words.indices {
            let errors = part.words.postings(ofErrorsInWord: word)
            // All other words are there without an error.
            let others = part.postings.indices.filter { $0 != word }
            guard let other = others.min(by: { part.postings[$0].count < part.postings[$1].count }) else {
                work.spend(part.admitAll())
                return look(at: errors, of: part, for: .error)
            }
            let rarest = part.postings[other]
            let (few, many) = rarest.count < errors.count ? (rarest, errors) : (errors, rarest)
            restrict(part, to: [many], of: few.count)
            guard look(at: few, of: part, for: .error) else { return false }
        }
        return true
    }

    /// Lets only places that are in some lists, too, be candidates, where another list has many.
    private mutating func restrict(
        _ part: RelevancePart, to lists: ArraySlice<RelevancePostings>, of count: Int
    ) {
        work.spend(part.admit(lists, of: count))
    }

    /// Takes the candidates of a list that belong to the page.
    ///
    /// - Parameter relevance: the best class that is looked for. Places of better ones were taken before.
    /// - Returns: false where the work was spent.
    private mutating func look(
        at postings: RelevancePostings, of part: RelevancePart, for relevance: RelevanceClass
    ) -> Bool {
        let columns = part.view.columns
        guard let ordered = part.ordered(postings, &work) else {
            return postings.forEachPlace { place in
                work.spend(Self.listedWork)
                if work.isSpent { return false }
                if part.isCandidate(place) { look(at: place) }
                return true
            }
        }
        return ordered.forEach { place in
            work.spend(Self.listedWork)
            if work.isSpent { return false }
            look(at: place)
            return true
        }

        @inline(__always)
        func look(at place: Int) {
            let bestRank = RelevanceRank(relevance, importance: columns.importance(of: place))
            if best.mayTake(bestRank, chordMeters: distances.chordMeters(to: place, of: columns)) {
                part.dismiss(place)
                take(place, of: part, for: relevance)
            }
        }
    }

    private mutating func take(_ place: Int, of part: RelevancePart, for relevance: RelevanceClass) {
        work.spend(Self.placeWork + Self.wordWork * query.words.count)
        guard query.filter.admits(kind: part.view.columns.kinds[place]),
            !part.filter.isNeeded || part.filter.admits(place, of: part.view),
            let found = part.relevanceClass(of: place, for: relevance, surroundings, &work)
        else { return }
        let rank = RelevanceRank(found, importance: part.view.columns.importance(of: place))
        guard best.mayTake(rank, chordMeters: distances.chordMeters(to: place, of: part.view.columns)) else {
            return
        }
        let reference = IndexPlaceReference(part: part.number, place: UInt32(truncatingIfNeeded: place))
        let distances = distances
        let bounds = DistanceBounds(
            index: reference.packed, id: part.view.columns.ids[place],
            distances.bounds(place, part.view.columns), measuring: distances.measure)
        best.take(rank, bounds, measuring: distances.measure)
    }

    // MARK: - The page

    mutating func page() -> RelevancePage {
        var page = RelevancePage()
        let size = query.limit - 1
        var entries = best.entries
        for index in entries.indices.prefix(size) {
            // The end of a page is exact.
            if index == size - 1 || !entries[index].bounds.decideTenths {
                entries[index].bounds.measure(by: distances.measure)
            }
        }
        for entry in entries.prefix(size) {
            let reference = IndexPlaceReference(packed: entry.bounds.index)
            page.found.append(
                RelevancePage.Found(
                    placed: IndexPage.Placed(
                        reference: reference, id: entry.bounds.id, distanceMeters: entry.bounds.maximum),
                    relevance: entry.rank.relevance, names: names(of: reference, entry.rank.relevance)))
        }
        if entries.count > size, let last = entries.prefix(size).last {
            let count = (query.after?.count ?? 0).addingReportingOverflow(size)
            page.end = PagePosition(
                rank: last.rank, distanceMeters: last.bounds.maximum, id: last.bounds.id,
                count: count.overflow ? .max : count.partialValue)
        }
        return page
    }

    private mutating func names(of reference: IndexPlaceReference, _ relevance: RelevanceClass) -> [Int] {
        parts[Int(reference.part)].names(
            of: Int(reference.place), relevance, all: query.findsAllNames, surroundings, &work)
    }
}

/// The distances of places from the centre of a search; all 0 without one.
private struct Distances {
    private let center: Coordinate?
    private let point: SIMD3<Double>?
    private let views: UnsafeMutableBufferPointer<PartView>

    init(_ center: Coordinate?, _ views: UnsafeMutableBufferPointer<PartView>) {
        self.center = center
        self.views = views
        point = center.map { Ellipsoid.point($0) }
    }

    @inline(__always)
    func chordMeters(to place: Int, of columns: PartColumns) -> Double {
        point.map { columns.chordMeters(from: $0, to: place) } ?? 0
    }

    /// What the positions tell about a distance.
    func bounds(_ place: Int, _ columns: PartColumns) -> (minimum: Double, maximum: Double) {
        guard let point else { return (0, 0) }
        if let bounds = Ranking.geodesicBounds(from: point, to: columns.point(of: place)) { return bounds }
        let chord = columns.chordMeters(from: point, to: place)
        return (
            Ranking.minimumGeodesicMeters(chordMeters: chord),
            Ranking.maximumGeodesicMeters(chordMeters: chord)
        )
    }

    /// The distance of a place by its packed reference.
    func measure(_ packed: Int) -> Double {
        guard let center else { return 0 }
        let reference = IndexPlaceReference(packed: packed)
        return Geodesic.distanceMeters(
            from: center, to: views[Int(reference.part)].columns.candidate(Int(reference.place)))
    }
}

/// The best places of a search so far, in order.
private struct RelevanceList {
    struct Entry {
        let rank: RelevanceRank
        var bounds: DistanceBounds
    }

    private(set) var entries: [Entry] = []
    private let limit: Int
    private let after: PagePosition?
    private let radiusMeters: Double?
    /// The rank of the last one of a full list, else the worst one.
    private var worst = RelevanceRank(.error, importance: 0)
    /// Of places with this rank, those with a longer chord aren't before the last one of a full list.
    private var maximumChordMeters = Double.infinity
    /// No place farther than this belongs to the list.
    private let maximumChordOfAll: Double

    init(_ query: RelevanceQuery) {
        limit = query.limit
        after = query.after
        radiusMeters = query.radiusMeters
        maximumChordOfAll = query.radiusMeters.map { Ranking.chordMeters(ofGeodesicBeyond: $0) } ?? .infinity
        entries.reserveCapacity(limit + 1)
    }

    var isFull: Bool { entries.count >= limit }

    /// Whether a place may belong to the list.
    @inline(__always)
    func mayTake(_ rank: RelevanceRank, chordMeters: @autoclosure () -> Double) -> Bool {
        guard !(worst < rank) else { return false }
        guard radiusMeters != nil || rank == worst else { return true }
        let chordMeters = chordMeters()
        return chordMeters <= maximumChordOfAll && (rank != worst || chordMeters <= maximumChordMeters)
    }

    /// Takes a place, unless it doesn't belong to the list or was taken before.
    mutating func take(
        _ rank: RelevanceRank, _ bounds: DistanceBounds, measuring measure: (_ index: Int) -> Double
    ) {
        if let radiusMeters, bounds.isBeyond(radiusMeters, measuring: measure) { return }
        if let after, let last = after.rank {
            if rank < last { return }
            if rank == last, !bounds.isBehind(after, measuring: measure) { return }
        }
        var entry = Entry(rank: rank, bounds: bounds)
        var index = entries.count
        while index > 0 {
            // The same place has the same rank and the same distance.
            if entries[index - 1].bounds.id == bounds.id { return }
            if entries[index - 1].rank < rank { break }
            if entries[index - 1].rank == rank,
                !DistanceBounds.isBefore(&entry.bounds, &entries[index - 1].bounds, measuring: measure)
            {
                break
            }
            index -= 1
        }
        entries.insert(entry, at: index)
        if entries.count > limit { entries.removeLast() }
        if isFull, let last = entries.last {
            worst = last.rank
            maximumChordMeters = Ranking.chordMeters(ofGeodesicBeyond: last.bounds.maximum)
        }
    }
}

import Geodesy
import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// Searches by relevance, on any thread that holds the snapshot.
extension IndexSnapshot {
    /// The page, if finding it takes no longer than a loop may spend on one search; nil if it takes longer.
    public func searchAtOnce(_ query: RelevanceQuery) -> RelevancePage? {
        find(query, work: WorkBudget(remaining: WorkBudget.ofATurn))
    }

    /// The page, however long that takes; nil where `stop` has ended the search.
    public func search(_ query: RelevanceQuery, until stop: SearchStop = SearchStop { false })
        -> RelevancePage?
    {
        withExtendedLifetime(stop) { find(query, work: WorkBudget(until: stop)) }
    }

    private func find(_ query: RelevanceQuery, work: WorkBudget) -> RelevancePage? {
        guard !query.words.isEmpty, query.limit > 0, !query.filter.matchesNothing else {
            return RelevancePage()
        }
        var search = RelevanceSearch(query, self, work: work)
        return search.run() ? search.page : nil
    }
}

/// The search for the places that a text finds best.
///
/// The classes are looked for one after the other, until the page is full: the names that are the text, by their rarest word;
/// those that have its words, by the word that the fewest places may have; those that have its first words only, by the first
/// one; and last those with an error, by the words that differ by one. Each is a list of places. Of a place of a list is looked at
/// what is cheap first: whether one so important and so near could still be on the page, at best.
private struct RelevanceSearch {
    private let query: RelevanceQuery
    private let distances: Distances
    private var parts: [RelevancePart]
    private var best: RelevanceList
    private var surroundings: Surroundings
    private var work: WorkBudget

    /// The work for a place of a list that isn't looked at any further; for one that is, without and for each word.
    private static let listedWork = 1, placeWork = 6, wordWork = 3
    /// The work for comparing a word with another for an error.
    private static let comparisonWork = 3

    init(_ query: RelevanceQuery, _ snapshot: IndexSnapshot, work: WorkBudget) {
        self.query = query
        self.work = work
        distances = Distances(query.center, snapshot.views)
        parts = snapshot.views.map { RelevancePart(query, $0) }
        best = RelevanceList(query)
        surroundings = Surroundings(query.words, snapshot.vocabulary)
    }

    /// Finds the places; false where the work was spent.
    mutating func run() -> Bool {
        for part in parts.indices {
            guard let postings = parts[part].words.rarestWhole else { continue }
            guard look(at: postings, of: part, for: .name) else { return false }
        }
        for part in parts.indices {
            let words = parts[part].words
            let rarest = words.words.indices.map { words.postings(ofWord: $0) }.min { $0.count < $1.count }
            guard let rarest, look(at: rarest, of: part, for: .beginning) else { return false }
        }
        guard !best.isFull else { return true }
        if query.words.count > 1 {
            for part in parts.indices where surroundings.mayHaveLastWord(parts[part].view.columns) {
                let postings = parts[part].words.postings(ofWord: 0)
                guard look(at: postings, of: part, for: .surroundings) else { return false }
            }
            guard !best.isFull else { return true }
        }
        for part in parts.indices {
            guard lookForErrors(in: part) else { return false }
        }
        return true
    }

    private mutating func lookForErrors(in part: Int) -> Bool {
        for word in query.words.indices {
            work.spend(Self.comparisonWork * parts[part].words.findErrors(ofWord: word))
            if work.isSpent { return false }
        }
        let words = parts[part].words
        let postings = words.words.indices.map { words.postings(ofWord: $0) }
        for word in words.words.indices {
            let errors = words.postings(ofErrorsInWord: word)
            // All other words are there without an error.
            let others = postings[..<word] + postings[(word + 1)...]
            let rarest = others.filter { $0.count < errors.count }.min { $0.count < $1.count }
            guard look(at: rarest ?? errors, of: part, for: .error) else { return false }
        }
        return true
    }

    /// Takes the places of a list that belong to the page.
    ///
    /// - Parameter relevance: the best class that is looked for. Places of better ones were taken before.
    /// - Returns: false where the work was spent.
    private mutating func look(
        at postings: RelevancePostings, of part: Int, for relevance: RelevanceClass
    ) -> Bool {
        let columns = parts[part].view.columns
        for range in postings.ranges {
            for index in range {
                let place = Int(columns.words.postings[index])
                work.spend(Self.listedWork)
                if work.isSpent { return false }
                let bestRank = RelevanceRank(relevance, importance: columns.importances[place])
                if best.mayTake(bestRank, chordMeters: distances.chordMeters(to: place, of: columns)) {
                    take(place, of: part, columns, for: relevance)
                }
            }
        }
        return true
    }

    private mutating func take(
        _ place: Int, of part: Int, _ columns: PartColumns, for relevance: RelevanceClass
    ) {
        work.spend(Self.placeWork + Self.wordWork * query.words.count)
        guard query.filter.admits(kind: columns.kinds[place]),
            parts[part].filter.admits(place, of: parts[part].view),
            let found = relevanceClass(of: place, of: part, columns, for: relevance)
        else { return }
        let rank = RelevanceRank(found, importance: columns.importances[place])
        guard best.mayTake(rank, chordMeters: distances.chordMeters(to: place, of: columns)) else { return }
        let reference = IndexPlaceReference(
            part: UInt32(truncatingIfNeeded: part), place: UInt32(truncatingIfNeeded: place))
        let distances = distances
        let bounds = DistanceBounds(
            index: reference.packed, id: columns.ids[place], distances.bounds(place, columns),
            measuring: distances.measure)
        best.take(rank, bounds, measuring: distances.measure)
    }

    /// The best class of a place's names that is looked for; nil where it has none.
    private mutating func relevanceClass(
        of place: Int, of part: Int, _ columns: PartColumns, for relevance: RelevanceClass
    ) -> RelevanceClass? {
        let words = parts[part].words
        var best: RelevanceClass?
        var (rest, isError) = (words.all, false)
        let range = columns.words.range(of: place)
        var start = range.lowerBound
        while start <= range.upperBound {
            let name = WordColumns.name(from: start, in: range, of: columns.words.placeWords)
            start = name.upperBound + 1
            let mask = words.mask(of: name)
            if mask == words.all {
                let found = words.classOfAll(name)
                if found.rawValue < best?.rawValue ?? .max { best = found }
            } else if best == nil, relevance.rawValue > RelevanceClass.words.rawValue {
                rest = min(rest, words.rest(of: mask))
                isError = isError || relevance == .error && words.isError(mask, in: name)
            }
        }
        if let best { return relevance.rawValue > RelevanceClass.words.rawValue ? nil : best }
        guard relevance.rawValue > RelevanceClass.words.rawValue else { return nil }
        if rest != words.all, surroundings.has(rest, at: place, of: columns, &work) {
            return relevance == .surroundings ? .surroundings : nil
        }
        return isError ? .error : nil
    }

    // MARK: - The page

    /// The page of what was found.
    var page: RelevancePage {
        var page = RelevancePage()
        let size = query.limit - 1
        var entries = best.entries
        for index in entries.indices.prefix(size) {
            // The end of a page is exact.
            if index == size - 1 || !entries[index].bounds.decideTenths {
                entries[index].bounds.measure(by: distances.measure)
            }
        }
        page.found = entries.prefix(size).map { entry in
            let reference = IndexPlaceReference(packed: entry.bounds.index)
            return RelevancePage.Found(
                placed: IndexPage.Placed(
                    reference: reference, id: entry.bounds.id, distanceMeters: entry.bounds.maximum),
                relevance: entry.rank.relevance,
                names: names(of: reference, entry.rank.relevance))
        }
        if entries.count > size, let last = entries.prefix(size).last {
            let count = (query.after?.count ?? 0).addingReportingOverflow(size)
            page.end = PagePosition(
                rank: last.rank, distanceMeters: last.bounds.maximum, id: last.bounds.id,
                count: count.overflow ? .max : count.partialValue)
        }
        return page
    }

    /// The numbers of the names of a place that have a class.
    private func names(of reference: IndexPlaceReference, _ relevance: RelevanceClass) -> [Int] {
        let (words, columns) = (
            parts[Int(reference.part)].words, parts[Int(reference.part)].view.columns
        )
        let range = columns.words.range(of: Int(reference.place))
        guard range.contains(where: { columns.words.placeWords[$0] == WordColumns.betweenNames }) else {
            return [0]
        }
        var surroundings = surroundings
        var work = WorkBudget(remaining: .max / 2)
        var isNamed: [Bool] = []
        for name in WordColumns.names(in: range, of: columns.words.placeWords) {
            if let first = name.first,
                let repeated = WordColumns.repeatedName(columns.words.placeWords[first])
            {
                isNamed.append(isNamed[repeated])
                continue
            }
            let mask = words.mask(of: name)
            if mask == words.all {
                isNamed.append(words.classOfAll(name) == relevance)
            } else if relevance == .surroundings {
                let rest = words.rest(of: mask)
                isNamed.append(
                    rest != words.all
                        && surroundings.has(rest, at: Int(reference.place), of: columns, &work))
            } else {
                isNamed.append(relevance == .error && words.isError(mask, in: name))
            }
        }
        return isNamed.indices.filter { isNamed[$0] }
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

/// What a search by relevance needs of a part.
private struct RelevancePart {
    let view: PartView
    let filter: PartFilter
    var words: RelevanceWords

    init(_ query: RelevanceQuery, _ view: PartView) {
        self.view = view
        var filter = query.filter
        filter.words = nil
        self.filter = PartFilter(filter, in: query.box, for: view)
        words = RelevanceWords(query.words, view.columns.words)
    }
}

extension RelevanceWords {
    /// The words of the text behind those at its beginning that a name has; all where it doesn't have the first one.
    fileprivate func rest(of mask: Mask) -> Mask {
        // The lowest bit that isn't set, and all above it.
        let first = ~mask & (mask &+ 1)
        return all & ~(first &- 1)
    }

    /// Whether a name that has some of the words has the only other one with an error.
    fileprivate func isError(_ mask: Mask, in name: Range<Int>) -> Bool {
        let missing = all & ~mask
        return missing.nonzeroBitCount == 1 && hasError(ofWord: missing.trailingZeroBitCount, in: name)
    }
}

/// The words of a text that places have in their addresses and categories.
private struct Surroundings {
    private let words: [QueryWord]
    private let vocabulary: IndexVocabulary
    private var matcher: WordMatcher
    /// For each category, the words of the text that its name has. Most searches don't come to it.
    private lazy var categories = masksOfCategories()
    /// The work for folding an address.
    private static let addressWork = 20

    init(_ words: [QueryWord], _ vocabulary: IndexVocabulary) {
        self.words = words
        self.vocabulary = vocabulary
        matcher = WordMatcher(words)
    }

    private func masksOfCategories() -> [RelevanceWords.Mask] {
        var matcher = matcher
        return vocabulary.names.map { matcher.mask(of: $0) }
    }

    /// Whether any place of a part may have the last word there. A place has it there if it has any word there.
    mutating func mayHaveLastWord(_ columns: PartColumns) -> Bool {
        let last = RelevanceWords.Mask(words.count - 1)
        if categories.contains(where: { $0 >> last == 1 }) { return true }
        let addressWords = columns.addressWords
        switch words.last {
        case nil: return false
        case .run: return true
        case .word(let word): return !addressWords.words(beginningWith: word).isEmpty
        case .either(let plain, let spelledOut):
            return !addressWords.words(beginningWith: plain).isEmpty
                || !addressWords.words(beginningWith: spelledOut).isEmpty
        }
    }

    /// Whether a place has all of some words there.
    mutating func has(
        _ words: RelevanceWords.Mask, at place: Int, of columns: PartColumns, _ work: inout WorkBudget
    ) -> Bool {
        let category = Int(columns.kinds[place] >> 1)
        let rest = words & ~(category < categories.count ? categories[category] : 0)
        guard rest != 0 else { return true }
        guard let address = PlaceRecord.address(of: columns.record(of: place)) else { return false }
        work.spend(Self.addressWork)
        return rest & ~matcher.mask(of: address) == 0
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
    /// Of places whose rank is that of the last one of a full list, those with a longer chord aren't before it.
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
    func mayTake(_ rank: RelevanceRank, chordMeters: Double) -> Bool {
        guard chordMeters <= maximumChordOfAll else { return false }
        guard isFull, let last = entries.last else { return true }
        return rank < last.rank || rank == last.rank && chordMeters <= maximumChordMeters
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
            maximumChordMeters = Ranking.chordMeters(ofGeodesicBeyond: last.bounds.maximum)
        }
    }
}

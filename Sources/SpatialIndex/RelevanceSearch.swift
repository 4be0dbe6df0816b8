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
/// The classes are looked for one after the other, as long as places of them may be on the page: the names that are the text, by
/// their rarest word; those that begin with it, by the rarest word but the last one; those that have its words, by the word that the
/// fewest places may have; those that have its first words only, by the rarest of them; places that have all words elsewhere, by
/// the word that the fewest blocks or categories have; and last those with an error, by the words that differ by one. Most are lists. Of a place of a
/// list is looked at what is cheap first: whether one so important and so near could still be on the page, at best.
private struct RelevanceSearch {
    private let query: RelevanceQuery
    private let snapshot: IndexSnapshot
    private let distances: Distances
    /// The text, and the text without what means nothing; or where nothing has all of it, the text without each of its words.
    private var readings: [Reading]
    private var best: RelevanceList
    private var work: WorkBudget

    /// A text as it is looked for.
    private struct Reading {
        let parts: [RelevancePart]
        let surroundings: Surroundings
        let wordCount: Int

        init(_ query: RelevanceQuery, _ snapshot: IndexSnapshot, _ work: inout WorkBudget) {
            var left = work
            parts = snapshot.views.enumerated().map { RelevancePart(query, $1, number: UInt32($0), &left) }
            surroundings = Surroundings(query.words, snapshot.categoryWords)
            wordCount = query.words.count
            work = left
        }
    }

    /// The work for a place of a list that isn't looked at any further; for one that is, without and for each word.
    private static let listedWork = 1, placeWork = 6, wordWork = 3
    /// A list has few places if another one has more than so many times as many.
    private static let fewFactor = 4
    /// The work for comparing a word with another for an error.
    private static let comparisonWork = 3

    init(_ query: RelevanceQuery, _ snapshot: IndexSnapshot, work: WorkBudget) {
        var work = work
        self.query = query
        self.snapshot = snapshot
        distances = Distances(query.center, snapshot.views)
        readings = [Reading(query, snapshot, &work)]
        if let reduced = query.reduced { readings.append(Reading(reduced, snapshot, &work)) }
        self.work = work
        best = RelevanceList(query)
    }

    /// Finds the places; false where the work was spent.
    mutating func run() -> Bool {
        let first = query.after?.rank?.group ?? .words
        let groups: [RelevanceGroup] =
            query.after == nil ? [.words, .begunError, .twoErrors, .leftOut] : [first]
        for group in groups {
            guard !work.isSpent else { return false }
            switch group {
            case .words, .error:
                guard lookForWords(), best.isFull || lookForErrors(.error) else { return false }
            case .begunError:
                guard lookForErrors(.begunError) else { return false }
            case .twoErrors:
                guard lookForErrors(.twoErrors) else { return false }
            case .leftOut:
                guard lookWithoutAWord() else { return false }
            }
            if !best.isEmpty { break }
        }
        return true
    }

    /// Looks for places that have all words of a reading, for the best classes first: with a full list, worse ones aren't looked for.
    private mutating func lookForWords() -> Bool {
        guard readings.indices.allSatisfy({ lookForNames($0) }) else { return false }
        for reading in readings.indices
        where readings[reading].wordCount > 1 && best.mayTakeAny(.surroundings) {
            guard readings[reading].parts.allSatisfy({ lookForSurroundings(in: $0, reading) }) else {
                return false
            }
        }
        return readings.indices.allSatisfy { reading in
            !best.mayTakeAny(.surroundingsOnly)
                || readings[reading].parts.allSatisfy { lookAtSurroundings(in: $0, reading) }
        }
    }

    /// Looks for names that have all words, first for those that are the text, then for those that begin with it; and between for
    /// places whose category's name the text is.
    private mutating func lookForNames(_ reading: Int) -> Bool {
        let parts = readings[reading].parts
        var lists: [RelevancePostings] = []
        for part in parts {
            let sorted = part.postings.sorted { $0.count < $1.count }
            restrict(part, to: Array(sorted.dropFirst()), of: sorted[0].count)
            lists.append(sorted[0])
            guard let whole = part.words.rarestWhole(ofFirst: part.words.wholes.count) else { continue }
            guard look(at: whole, of: part, reading, for: .name) else { return false }
        }
        guard !best.mayTakeAny(.category) || parts.allSatisfy({ lookAtCategories(of: $0, reading) }) else {
            return false
        }
        // All words but the last one are whole words of a name that begins with the text. Where few places have these, only the
        // most important of the others are looked at.
        let begun = zip(parts, lists).map { part, list in
            let whole = part.words.rarestWhole(ofFirst: part.words.wholes.count - 1)
            return whole.flatMap { Self.fewFactor * $0.count < list.count ? $0 : nil }
        }
        return parts.indices.allSatisfy {
            look(at: begun[$0] ?? lists[$0], of: parts[$0], reading, for: .beginning)
        }
            && parts.indices.allSatisfy {
                begun[$0] == nil || look(at: lists[$0], of: parts[$0], reading, for: .words)
            }
    }

    /// Looks for places whose category's name the text is.
    private mutating func lookAtCategories(of part: RelevancePart, _ reading: Int) -> Bool {
        let surroundings = readings[reading].surroundings
        var left = work
        defer { work = left }
        return surroundings.forEachOfNamedCategory(of: part.view.columns, &left) { place, left in
            take(place, of: part, reading, for: .category, &left)
            return true
        }
    }

    /// Takes a place if it belongs to the page.
    private mutating func take(
        _ place: Int, of part: RelevancePart, _ reading: Int, for relevance: RelevanceClass,
        _ left: inout WorkBudget
    ) {
        guard mayTake(place, of: part.view.columns, for: relevance) else { return }
        work = left
        take(place, of: part, reading, for: relevance)
        left = work
    }

    /// Looks for names that have the first words, of places that have the others elsewhere.
    private mutating func lookForSurroundings(in part: RelevancePart, _ reading: Int) -> Bool {
        let wordCount = readings[reading].wordCount
        let neededCount = readings[reading].surroundings.neededCount(part.view.columns)
        guard neededCount < wordCount else { return true }
        let needed = part.postings.prefix(neededCount).sorted { $0.count < $1.count }
        var lists: [any ListedPlaces] = Array(needed.dropFirst())
        // The last word is elsewhere, and words between those and it are in a name or elsewhere.
        let surroundings = readings[reading].surroundings
        for word in neededCount..<wordCount {
            let names = word == wordCount - 1 ? nil : part.postings[word]
            if let list = surroundings.places(having: word, of: part.view.columns, orBy: names) {
                lists.append(list)
            }
        }
        lists.sort { $0.count < $1.count }
        restrict(part, to: lists, of: needed[0].count)
        return look(at: needed[0], of: part, reading, for: .surroundings)
    }

    /// Looks for places that have all words elsewhere.
    private mutating func lookAtSurroundings(in part: RelevancePart, _ reading: Int) -> Bool {
        let surroundings = readings[reading].surroundings
        let columns = part.view.columns
        var left = work
        defer { work = left }
        return surroundings.forEachCandidate(of: columns, &left) { place, left in
            take(place, of: part, reading, for: .surroundingsOnly, &left)
            return true
        }
    }

    private mutating func lookForErrors(_ relevance: RelevanceClass) -> Bool {
        readings[0].parts.allSatisfy { lookForErrors(relevance, in: $0) }
    }

    private mutating func lookForErrors(_ relevance: RelevanceClass, in part: RelevancePart) -> Bool {
        for word in query.words.indices {
            work.spend(Self.comparisonWork * part.words.findErrors(relevance, ofWord: word))
            if work.isSpent { return false }
        }
        for word in query.words.indices {
            let errors = part.words.postings(ofErrorsInWord: word)
            guard errors.count > 0 else { continue }
            // All other words are there without an error.
            let others = part.postings.indices.filter { $0 != word }
            guard let other = others.min(by: { part.postings[$0].count < part.postings[$1].count }) else {
                work.spend(part.admitAll())
                return look(at: errors, of: part, 0, for: relevance)
            }
            let rarest = part.postings[other]
            let (few, many) = rarest.count < errors.count ? (rarest, errors) : (errors, rarest)
            restrict(part, to: [many], of: few.count)
            guard look(at: few, of: part, 0, for: relevance) else { return false }
        }
        return true
    }

    /// Looks for places that have all words but one.
    private mutating func lookWithoutAWord() -> Bool {
        guard query.mayLeaveOut else { return true }
        var readings: [Reading] = []
        for word in query.words.indices {
            readings.append(Reading(query.without(word), snapshot, &work))
            guard !work.isSpent else { return false }
        }
        self.readings = readings
        best.leavesOut = true
        return lookForWords()
    }

    /// Lets only places that are in some lists, too, be candidates, where another list has many.
    private mutating func restrict(
        _ part: RelevancePart, to lists: [any ListedPlaces], of count: Int
    ) {
        work.spend(part.admit(lists, of: count))
    }

    /// Takes the candidates of a list that belong to the page.
    ///
    /// - Parameter relevance: the best class that is looked for. Places of better ones were taken before.
    /// - Returns: false where the work was spent.
    private mutating func look(
        at postings: RelevancePostings, of part: RelevancePart, _ reading: Int,
        for relevance: RelevanceClass
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
            if mayTake(place, of: columns, for: relevance) {
                part.dismiss(place)
                take(place, of: part, reading, for: relevance)
            }
        }
    }

    @inline(__always)
    private func mayTake(_ place: Int, of columns: PartColumns, for relevance: RelevanceClass) -> Bool {
        best.mayTake(
            relevance, importance: columns.importance(of: place), id: columns.ids[place],
            chordMeters: distances.chordMeters(to: place, of: columns))
    }

    private mutating func take(
        _ place: Int, of part: RelevancePart, _ reading: Int, for relevance: RelevanceClass
    ) {
        let columns = part.view.columns
        work.spend(Self.placeWork + Self.wordWork * query.words.count)
        guard query.filter.admits(kind: columns.kinds[place]),
            !part.filter.isNeeded || part.filter.admits(place, of: part.view),
            let found = find(place, of: part, reading, for: relevance),
            mayTake(place, of: columns, for: found.relevance)
        else { return }
        let reference = IndexPlaceReference(part: part.number, place: UInt32(truncatingIfNeeded: place))
        let distances = distances
        let bounds = DistanceBounds(
            index: reference.packed, id: columns.ids[place],
            distances.bounds(place, columns), measuring: distances.measure)
        best.take(found, importance: columns.importance(of: place), bounds, measuring: distances.measure)
    }

    /// How a place is found; nil where it isn't by a class that is looked for. One that several readings find is found by the best of
    /// them.
    private mutating func find(
        _ place: Int, of part: RelevancePart, _ reading: Int, for relevance: RelevanceClass
    ) -> RelevanceList.Found? {
        let number = Int(part.number)
        let found = part.relevanceClass(of: place, for: relevance, readings[reading].surroundings, &work)
        guard var found else { return nil }
        var best = reading
        for other in readings.indices where other != reading {
            let relevance = readings[other].parts[number].bestClass(
                of: place, readings[other].surroundings, &work)
            guard let relevance else { continue }
            let ranks = (
                RelevanceRank(relevance, importance: 0).packed, RelevanceRank(found, importance: 0).packed
            )
            if (ranks.0, other) < (ranks.1, best) { (found, best) = (relevance, other) }
        }
        return RelevanceList.Found(relevance: found, reading: best)
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
                    relevance: entry.found.relevance, leftOut: best.leavesOut ? entry.found.reading : nil,
                    names: names(of: reference, entry.found)))
        }
        if entries.count > size, let last = entries.prefix(size).last {
            let count = (query.after?.count ?? 0).addingReportingOverflow(size)
            page.end = PagePosition(
                rank: last.rank, distanceMeters: last.bounds.maximum, id: last.bounds.id,
                count: count.overflow ? .max : count.partialValue)
        }
        return page
    }

    private mutating func names(of reference: IndexPlaceReference, _ found: RelevanceList.Found) -> [Int] {
        let reading = readings[found.reading]
        return reading.parts[Int(reference.part)].names(
            of: Int(reference.place), found.relevance, all: query.findsAllNames, reading.surroundings, &work)
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

import PointsOfInterestServerAPI

final class RelevancePart {
    let number: UInt32
    let view: PartView
    let filter: PartFilter
    let words: RelevanceWords
    /// For each word of the text, the places that may have it.
    let postings: [RelevancePostings]
    /// For each word of the text, what a name that has it has one of.
    private let needed: [NeededWords]
    /// Each name of any class has one of these, unless the text is one word.
    private let neededForErrors: NeededWords
    /// For each number of words at the beginning of the text, the two different ones of them that the fewest places may have; the
    /// same twice where there is only one.
    private let rarest: [(one: Int, other: Int)]
    /// A bit for each place that may be what is looked for, and wasn't looked at yet.
    private let candidates: PlaceSet

    /// Looks up the words. Where that spends the work, the lists aren't complete.
    init(_ query: RelevanceQuery, _ view: PartView, number: UInt32, _ work: inout WorkBudget) {
        self.number = number
        self.view = view
        var filter = query.filter
        filter.words = nil
        self.filter = PartFilter(filter, in: query.box, for: view)
        words = RelevanceWords(query.words, view.columns.words)
        candidates = PlaceSet(view.columns.count, hasAll: true)
        work.spend(candidates.work)
        var (postings, needed): ([RelevancePostings], [[WordNumbers]]) = ([], [])
        for word in query.words.indices {
            var places = words.postings(ofWord: word)
            var numbers = places.numbers
            for index in words.words[word].written.indices where !work.isSpent {
                let (rarest, other) = words.writings[index].rarest(view.columns.words)
                places.add(Self.places(with: rarest, and: other, view.columns.words, candidates, &work))
                numbers.append(rarest)
            }
            postings.append(places)
            needed.append(numbers)
        }
        self.postings = postings
        self.needed = needed.map { NeededWords($0) }
        neededForErrors = NeededWords(needed.prefix(2).flatMap(\.self))
        rarest = Self.rarest(postings, words.distinct)
    }

    deinit {
        needed.forEach { $0.free() }
        neededForErrors.free()
    }

    private static func rarest(_ postings: [RelevancePostings], _ distinct: Column<RelevanceWords.Distinct>)
        -> [(one: Int, other: Int)]
    {
        var (one, other) = (0, 0)
        return postings.indices.map { word in
            if word > 0, (0..<distinct.count).contains(where: { distinct[$0].index == word }) {
                if postings[word].count < postings[one].count {
                    (one, other) = (word, one)
                } else if one == other || postings[word].count < postings[other].count {
                    other = word
                }
            }
            return (one, other)
        }
    }

    /// Places with a word of two ranges, of which fewer places have the first one.
    ///
    /// - Parameter scratch: a bit for each place, all set before and after.
    private static func places(
        with rarest: WordNumbers, and other: WordNumbers, _ columns: WordColumns, _ scratch: PlaceSet,
        _ work: inout WorkBudget
    ) -> [UInt32] {
        let (few, many) = (columns.postingRange(of: rarest.range), columns.postingRange(of: other.range))
        work.spend(few.count)
        guard PlaceSet.isWorthwhile(many.count, for: few.count, few: fewPlaces) else {
            return few.map { columns.postings[$0] }
        }
        work.spend(few.count + many.count)
        guard !work.isSpent else { return [] }
        for index in few { scratch.remove(Int(columns.postings[index])) }
        var places: [UInt32] = []
        for index in many where !scratch.contains(Int(columns.postings[index])) {
            places.append(columns.postings[index])
        }
        for index in few { scratch.insert(Int(columns.postings[index])) }
        return places
    }

    /// Which places are in two lists isn't found out where one has so few.
    private static let fewPlaces = 8

    /// From now on each place is a candidate once.
    func admitAll() -> Int {
        candidates.insertAll()
        return candidates.work
    }

    /// From now on each place is a candidate once, or only those that all of some lists have, where finding them takes less than to
    /// look at the places of another list.
    ///
    /// - Parameters:
    ///   - lists: in ascending order of their lengths.
    ///   - count: how many places the other list has.
    /// - Returns: the work that this was.
    func admit(_ lists: [any ListedPlaces], of count: Int) -> Int {
        guard let first = lists.first,
            PlaceSet.isWorthwhile(first.count, for: count, few: Self.fewPlaces)
        else { return admitAll() }
        candidates.removeAll()
        first.insert(into: candidates)
        var count = min(count, first.count)
        return candidates.work + PlaceSet.work(ofAdding: first.count)
            + candidates.restrict(to: lists.dropFirst(), &count, few: Self.fewPlaces)
    }

    /// The candidates that a list has, in the order in which memory has them; nil where the list has few. What is known of a place
    /// lies beside what is known of the next one, and a list jumps: each of its words begins at the front again.
    func ordered(_ list: RelevancePostings, _ work: inout WorkBudget) -> PlaceSet? {
        guard list.count > view.columns.count / Self.orderedShare else { return nil }
        let ordered = PlaceSet(view.columns.count)
        list.insert(into: ordered)
        _ = ordered.formIntersection(with: candidates)
        work.spend(2 * ordered.work + PlaceSet.work(ofAdding: list.count))
        return ordered
    }

    private static let orderedShare = 16

    @inline(__always)
    func isCandidate(_ place: Int) -> Bool { candidates.contains(place) }

    /// From now on a place is none.
    @inline(__always)
    func dismiss(_ place: Int) { candidates.remove(place) }

    /// The class of a place; nil where that isn't one of those that are looked for: all up to `words` together, then one after the
    /// other.
    func relevanceClass(
        of place: Int, for relevance: RelevanceClass, _ surroundings: Surroundings,
        _ work: inout WorkBudget
    ) -> RelevanceClass? {
        switch relevance {
        case .name, .category, .beginning, .words:
            let found = classOfNames(of: place, for: relevance, neededCount: words.words.count) { 0 }
            return found != .name && surroundings.namesCategory(of: place, view.columns) ? .category : found
        case .surroundings, .surroundingsOnly, .error, .begunError, .twoErrors:
            return surroundings.namesCategory(of: place, view.columns)
                ? nil : worseClass(of: place, for: relevance, surroundings, &work)
        }
    }

    /// The same for the classes that are looked for one after the other, where the text isn't the name of the place's category.
    private func worseClass(
        of place: Int, for relevance: RelevanceClass, _ surroundings: Surroundings,
        _ work: inout WorkBudget
    ) -> RelevanceClass? {
        switch relevance {
        case .surroundings:
            // What the words there begin with mostly tells that they aren't those of the text.
            guard surroundings.mayHaveLast(place, view.columns) else { return nil }
            let possible = surroundings.possibleMask(of: place, of: view.columns)
            guard isInSurroundings(place, possible) else { return nil }
            let mask = surroundings.mask(of: place, of: view.columns, &work)
            return mask == possible || isInSurroundings(place, mask) ? .surroundings : nil
        case .surroundingsOnly:
            // Who has the first word in a name, and all elsewhere, is of a better class.
            let isElsewhere = hasAllElsewhere(place, surroundings, &work) && !hasFirstWord(place)
            return isElsewhere ? .surroundingsOnly : nil
        default:
            let found = classOfNames(of: place, for: relevance, neededCount: words.words.count) {
                surroundings.mask(of: place, of: view.columns, &work)
            }
            return found == nil || hasAllElsewhere(place, surroundings, &work) ? nil : found
        }
    }

    /// The class of a place without errors; nil where it has none.
    func bestClass(of place: Int, _ surroundings: Surroundings, _ work: inout WorkBudget) -> RelevanceClass? {
        if let found = relevanceClass(of: place, for: .words, surroundings, &work) { return found }
        if words.words.count > 1,
            let found = relevanceClass(of: place, for: .surroundings, surroundings, &work)
        {
            return found
        }
        return relevanceClass(of: place, for: .surroundingsOnly, surroundings, &work)
    }

    private func hasAllElsewhere(_ place: Int, _ surroundings: Surroundings, _ work: inout WorkBudget) -> Bool
    {
        surroundings.hasLongWord && surroundings.mayHaveAll(place, view.columns)
            && surroundings.mask(of: place, of: view.columns, &work) == words.all
    }

    private func hasFirstWord(_ place: Int) -> Bool {
        let columns = view.columns.words
        return WordColumns.names(in: columns.range(of: place), of: columns.placeWords)
            .contains { words.mask(of: $0) & 1 == 1 }
    }

    private func isInSurroundings(_ place: Int, _ mask: RelevanceWords.Mask) -> Bool {
        // The last word at least is there.
        guard mask & ~(words.all >> 1) != 0 else { return false }
        // The first word, and all up to the last one that isn't there.
        let neededCount = max(1, RelevanceWords.Mask.bitWidth - (words.all & ~mask).leadingZeroBitCount)
        return classOfNames(of: place, for: .surroundings, neededCount: neededCount) { mask } != nil
    }

    /// The best class of a place's names; nil where that isn't one of those that are looked for.
    private func classOfNames(
        of place: Int, for relevance: RelevanceClass, neededCount: Int,
        _ surroundings: () -> RelevanceWords.Mask
    ) -> RelevanceClass? {
        let (placeWords, range) = (view.columns.words.placeWords, view.columns.words.range(of: place))
        // A place of a list of errors has one. Names of one word that have none of those that are needed aren't looked at.
        var best: RelevanceClass? = relevance.hasErrors && words.words.count == 1 ? relevance : nil
        var elsewhere: RelevanceWords.Mask?
        let (one, other) = needed(ofFirst: neededCount, for: relevance)
        var (start, entry) = (range.lowerBound, range.lowerBound)
        while entry < range.upperBound {
            let number = placeWords[entry]
            if number == WordColumns.betweenNames {
                start = entry + 1
            } else if one.mayContain(number) {
                let name = WordColumns.name(from: start, in: range, of: placeWords)
                if other?.mayBe(in: name, of: placeWords) ?? true {
                    let found = relevanceClass(of: name, upTo: relevance) {
                        let mask = elsewhere ?? surroundings()
                        elsewhere = mask
                        return mask
                    }
                    if let found, found.rawValue < best?.rawValue ?? .max { best = found }
                    if best == .name { break }
                }
                start = name.upperBound + 1
                entry = name.upperBound
            }
            entry += 1
        }
        return relevance.rawValue <= RelevanceClass.words.rawValue || best == relevance ? best : nil
    }

    /// What a name of a class has one of if it needs so many first words of the text, and what it has one of besides.
    private func needed(ofFirst count: Int, for relevance: RelevanceClass) -> (NeededWords, NeededWords?) {
        guard !relevance.hasErrors else { return (neededForErrors, nil) }
        let (one, other) = rarest[count - 1]
        return (needed[one], one == other ? nil : needed[other])
    }

    /// The numbers of the names of a place that have a class, or only the first of them.
    func names(
        of place: Int, _ relevance: RelevanceClass, all: Bool, _ surroundings: Surroundings,
        _ work: inout WorkBudget
    ) -> [Int] {
        let columns = view.columns.words
        var (found, number): ([Int], Int) = ([], 0)
        var elsewhere: RelevanceWords.Mask?
        for name in WordColumns.names(in: columns.range(of: place), of: columns.placeWords) {
            if let first = name.first, let repeated = WordColumns.repeatedName(columns.placeWords[first]) {
                if found.contains(repeated) { found.append(number) }
            } else {
                let itsClass = relevanceClass(of: name, upTo: relevance) {
                    let mask = elsewhere ?? surroundings.mask(of: place, of: view.columns, &work)
                    elsewhere = mask
                    return mask
                }
                if itsClass == relevance { found.append(number) }
            }
            if !all, !found.isEmpty { return found }
            number += 1
        }
        return found
    }

    /// The class of a name; nil where it is worse than one.
    ///
    /// - Parameter elsewhere: the words of the text that the place has in its address and category.
    @inline(__always)
    private func relevanceClass(
        of name: Range<Int>, upTo relevance: RelevanceClass, _ elsewhere: () -> RelevanceWords.Mask
    ) -> RelevanceClass? {
        let mask = words.mask(of: name)
        if mask == words.all { return words.classOfAll(name) }
        guard relevance.rawValue > RelevanceClass.words.rawValue else { return nil }
        let rest = words.rest(of: mask)
        if rest != words.all, rest & ~elsewhere() == 0 { return .surroundings }
        return relevance.hasErrors && words.isError(mask, in: name) ? relevance : nil
    }
}

/// Words of which a name has at least one, if it may be what is looked for.
private struct NeededWords {
    private let widest: WordNumbers
    private let hasOthers: Bool
    /// Other ranges of many words.
    private let wide: Column<WordNumbers>
    /// A bit for each remainder of all others' numbers.
    private let others: Column<UInt64>

    private static let bitCount: UInt32 = 1024
    /// So many words of a range are taken for as many bits.
    private static let maximumNarrowCount = 16

    init(_ numbers: [WordNumbers]) {
        let merged = WordNumbers.merged(numbers)
        let widest = merged.max { $0.range.count < $1.range.count } ?? .none
        self.widest = widest
        hasOthers = merged.count > 1
        wide = Column(merged.filter { $0 != widest && $0.range.count > Self.maximumNarrowCount })
        others = Column(repeating: 0, count: Int(Self.bitCount / 64))
        for numbers in merged where numbers.range.count <= Self.maximumNarrowCount {
            for number in numbers.range {
                others[Int(number % Self.bitCount) / 64] |= 1 << UInt64(number % 64)
            }
        }
    }

    func free() {
        wide.free()
        others.free()
    }

    /// Whether a word may be one of them.
    @inline(__always)
    func mayContain(_ number: UInt32) -> Bool {
        widest.contains(number)
            || hasOthers
                && (PlaceBits.bit(Int(number % Self.bitCount), of: others.base)
                    || (0..<wide.count).contains { wide[$0].contains(number) })
    }

    /// Whether a name may have one of them.
    @inline(__always)
    func mayBe(in name: Range<Int>, of placeWords: Column<UInt32>) -> Bool {
        name.contains { mayContain(placeWords[$0]) }
    }
}

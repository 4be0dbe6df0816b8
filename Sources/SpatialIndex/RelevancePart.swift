import PointsOfInterestServerAPI

/// A part in a search by relevance.
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
    private let candidates: Column<UInt64>
    /// A word that places need in a name or in their surroundings, and a bit for each that may have it in a name.
    private var neededSomewhere: (word: Int, places: Column<UInt64>)?

    /// Looks up the words. Where that spends the work, the lists aren't complete.
    init(_ query: RelevanceQuery, _ view: PartView, number: UInt32, _ work: inout WorkBudget) {
        self.number = number
        self.view = view
        var filter = query.filter
        filter.words = nil
        self.filter = PartFilter(filter, in: query.box, for: view)
        words = RelevanceWords(query.words, view.columns.words)
        candidates = Column(repeating: .max, count: view.columns.count / 64 + 1)
        work.spend(candidates.count / Self.bitsOfWork)
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
        candidates.free()
        neededSomewhere?.places.free()
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
        with rarest: WordNumbers, and other: WordNumbers, _ columns: WordColumns, _ scratch: Column<UInt64>,
        _ work: inout WorkBudget
    ) -> [UInt32] {
        let (few, many) = (columns.postingRange(of: rarest.range), columns.postingRange(of: other.range))
        work.spend(few.count)
        guard few.count > fewPlaces, many.count < maximumRatio * few.count else {
            return few.map { columns.postings[$0] }
        }
        work.spend(few.count + many.count)
        guard !work.isSpent else { return [] }
        for index in few { scratch.clear(Int(columns.postings[index])) }
        var places: [UInt32] = []
        for index in many where !scratch.has(Int(columns.postings[index])) {
            places.append(columns.postings[index])
        }
        for index in few { scratch.set(Int(columns.postings[index])) }
        return places
    }

    /// Which places are in two lists isn't found out where one has so few, or the other so many times as many.
    private static let fewPlaces = 8, maximumRatio = 64

    /// The work for writing a bit for each place.
    var candidatesWork: Int { candidates.count / Self.bitsOfWork }

    /// How many words of bits are written with one unit of work.
    private static let bitsOfWork = 32

    /// From now on each place is a candidate once.
    func admitAll() {
        candidates.base.update(repeating: .max, count: candidates.count)
    }

    /// From now on each place is a candidate once, or only those of a list are, where finding them takes less than to look at as many
    /// places as another one has.
    ///
    /// - Returns: how many places were found.
    func admit(_ postings: RelevancePostings, unlessFewerThan count: Int) -> Int {
        guard count > Self.fewPlaces, postings.count < Self.maximumRatio * count else {
            admitAll()
            return 0
        }
        candidates.base.update(repeating: 0, count: candidates.count)
        candidates.set(postings)
        return postings.count
    }

    /// From now on places need a word of the text in a name or in their surroundings, which is found out once.
    ///
    /// - Returns: how many places were found.
    func need(_ word: Int) -> Int {
        let places = Column<UInt64>(repeating: 0, count: candidates.count)
        neededSomewhere = (word, places)
        places.set(postings[word])
        return postings[word].count
    }

    /// Whether a place is a candidate.
    @inline(__always)
    func isCandidate(_ place: Int) -> Bool { candidates.has(place) }

    /// From now on a place is none.
    @inline(__always)
    func dismiss(_ place: Int) { candidates.clear(place) }

    /// The best class of a place's names; nil where that isn't one of those that are looked for: all up to `words` together, then one
    /// after the other.
    func relevanceClass(
        of place: Int, for relevance: RelevanceClass, _ surroundings: inout Surroundings,
        _ work: inout WorkBudget
    ) -> RelevanceClass? {
        let (placeWords, range) = (view.columns.words.placeWords, view.columns.words.range(of: place))
        // A place of a list of errors has one. Names of one word that have none of those that are needed aren't looked at.
        var best: RelevanceClass? = relevance == .error && words.words.count == 1 ? .error : nil
        var elsewhere: RelevanceWords.Mask?
        var neededCount = words.words.count
        if relevance == .surroundings {
            let mask = surroundings.mask(of: place, of: view.columns, &work)
            // The last word at least is there.
            guard mask & ~(words.all >> 1) != 0 else { return nil }
            if let (word, places) = neededSomewhere, mask >> RelevanceWords.Mask(word) & 1 == 0,
                !places.has(place)
            {
                return nil
            }
            elsewhere = mask
            // The first word, and all up to the last one that isn't there.
            neededCount = max(1, RelevanceWords.Mask.bitWidth - (words.all & ~mask).leadingZeroBitCount)
        }
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
                        let mask = elsewhere ?? surroundings.mask(of: place, of: view.columns, &work)
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
        guard relevance != .error else { return (neededForErrors, nil) }
        let (one, other) = rarest[count - 1]
        return (needed[one], one == other ? nil : needed[other])
    }

    /// The numbers of the names of a place that have a class, or only the first of them.
    func names(
        of place: Int, _ relevance: RelevanceClass, all: Bool, _ surroundings: inout Surroundings,
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
        return relevance == .error && words.isError(mask, in: name) ? .error : nil
    }
}

/// Bits of numbers.
extension Column<UInt64> {
    @inline(__always)
    fileprivate func has(_ number: Int) -> Bool { PlaceBits.bit(number, of: base) }

    @inline(__always)
    fileprivate func set(_ number: Int) { self[number / 64] |= 1 << UInt64(number % 64) }

    fileprivate func set(_ postings: RelevancePostings) {
        _ = postings.forEachPlace {
            set($0)
            return true
        }
    }

    @inline(__always)
    fileprivate func clear(_ number: Int) { self[number / 64] &= ~(1 << UInt64(number % 64)) }
}

/// Words of which a name has at least one, if it may be what is looked for.
private struct NeededWords {
    /// The widest range of them.
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
            for number in numbers.range { others.set(Int(number % Self.bitCount)) }
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
                && (others.has(Int(number % Self.bitCount))
                    || (0..<wide.count).contains { wide[$0].contains(number) })
    }

    /// Whether a name may have one of them.
    @inline(__always)
    func mayBe(in name: Range<Int>, of placeWords: Column<UInt32>) -> Bool {
        name.contains { mayContain(placeWords[$0]) }
    }
}

/// The words of a text that places have in their addresses and categories.
struct Surroundings {
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

    /// The words at the beginning of the text that a name needs, at least: places of a part can't have them, and all behind them,
    /// there. All words where no place has the last one there.
    mutating func neededCount(_ columns: PartColumns) -> Int {
        let ofCategories = categories.reduce(0, |)
        var count = words.count
        while count > 1,
            ofCategories >> RelevanceWords.Mask(count - 1) & 1 == 1
                || Self.mayHave(words[count - 1], columns.addressWords)
        {
            count -= 1
        }
        return count
    }

    /// Whether any address may have a word.
    private static func mayHave(_ word: QueryWord, _ addressWords: SortedWords) -> Bool {
        switch word {
        case .run:
            addressWords.count > 0
                && addressWords.word(UInt32(addressWords.count - 1))[0] >= SearchWords.firstByteOfRuns
        case .word(let word): !addressWords.words(beginningWith: word).isEmpty
        case .either(let plain, let spelledOut):
            !addressWords.words(beginningWith: plain).isEmpty
                || !addressWords.words(beginningWith: spelledOut).isEmpty
        }
    }

    /// The words that a place has there.
    mutating func mask(of place: Int, of columns: PartColumns, _ work: inout WorkBudget)
        -> RelevanceWords.Mask
    {
        let category = Int(columns.kinds[place] >> 1)
        let mask = category < categories.count ? categories[category] : 0
        guard let address = PlaceRecord.address(of: columns.record(of: place)) else { return mask }
        work.spend(Self.addressWork)
        return mask | matcher.mask(of: address)
    }
}

import PointsOfInterestServerAPI

/// The words of a text that places have in their addresses and categories.
struct Surroundings {
    private let words: [QueryWord]
    private let vocabulary: IndexVocabulary
    private var matcher: WordMatcher
    /// What each word of the text begins with.
    private let initials: [WordInitials]
    private let lastInitials: WordInitials
    private lazy var hasLastInCategory = categories.contains { $0 >> UInt64(words.count - 1) & 1 == 1 }
    /// For each category, the words of the text that its name has. Most searches don't come to it.
    private lazy var categories = masksOfCategories()
    private static let addressWork = 20

    init(_ words: [QueryWord], _ vocabulary: IndexVocabulary) {
        self.words = words
        self.vocabulary = vocabulary
        matcher = WordMatcher(words)
        initials = words.map { WordInitials($0) }
        lastInitials = initials.last ?? .none
    }

    private func masksOfCategories() -> [RelevanceWords.Mask] {
        var matcher = matcher
        return vocabulary.names.map { name in
            let name = Array(name.utf8)
            return matcher.mask(of: name.span)
        }
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

    /// Whether a place may have the last word there.
    @inline(__always)
    mutating func mayHaveLast(_ place: Int, _ columns: PartColumns) -> Bool {
        hasLastInCategory || lastInitials.meets(columns.addressInitials[place])
    }

    /// The words that a place may have there, or more.
    mutating func possibleMask(of place: Int, of columns: PartColumns) -> RelevanceWords.Mask {
        let category = Int(columns.kinds[place] >> 1)
        var mask = category < categories.count ? categories[category] : 0
        let initials = columns.addressInitials[place]
        for word in self.initials.indices where initials.meets(self.initials[word]) {
            mask |= 1 << RelevanceWords.Mask(word)
        }
        return mask
    }

    mutating func mask(of place: Int, of columns: PartColumns, _ work: inout WorkBudget)
        -> RelevanceWords.Mask
    {
        let category = Int(columns.kinds[place] >> 1)
        let mask = category < categories.count ? categories[category] : 0
        guard let address = PlaceRecord(columns.record(of: place)).address else { return mask }
        work.spend(Self.addressWork)
        return mask | matcher.mask(of: address.span)
    }
}

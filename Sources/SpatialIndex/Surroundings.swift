import PointsOfInterestServerAPI

/// The words of a text that places have in their addresses and categories. A search asks for them a place at a time, so they are plain
/// memory, which is read without counting references.
final class Surroundings {
    private let words: [QueryWord]
    private let vocabulary: IndexVocabulary
    private var matcher: WordMatcher
    /// What each word of the text begins with.
    private let initials: Column<WordInitials>
    private let lastInitials: WordInitials
    private var madeCategories: Column<RelevanceWords.Mask>?
    private lazy var allOfCategories = (0..<categories.count).reduce(0) { $0 | categories[$1] }
    private static let addressWork = 20

    init(_ words: [QueryWord], _ vocabulary: IndexVocabulary) {
        self.words = words
        self.vocabulary = vocabulary
        matcher = WordMatcher(words)
        initials = Column(words.map { WordInitials($0) })
        lastInitials = words.last.map { WordInitials($0) } ?? .none
    }

    deinit {
        initials.free()
        madeCategories?.free()
    }

    /// For each category, the words of the text that its name has. Most searches don't come to it.
    private var categories: Column<RelevanceWords.Mask> {
        if let madeCategories { return madeCategories }
        let made = Column(masksOfCategories())
        madeCategories = made
        return made
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
    func neededCount(_ columns: PartColumns) -> Int {
        var count = words.count
        while count > 1,
            allOfCategories >> RelevanceWords.Mask(count - 1) & 1 == 1
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
    func mayHaveLast(_ place: Int, _ columns: PartColumns) -> Bool {
        allOfCategories >> RelevanceWords.Mask(words.count - 1) & 1 == 1
            || lastInitials.meets(columns.addressInitials[place])
    }

    /// The words that a place may have there, or more.
    func possibleMask(of place: Int, of columns: PartColumns) -> RelevanceWords.Mask {
        var mask = maskOfCategory(of: place, of: columns)
        let initials = columns.addressInitials[place]
        for word in 0..<self.initials.count where initials.meets(self.initials[word]) {
            mask |= 1 << RelevanceWords.Mask(word)
        }
        return mask
    }

    private func maskOfCategory(of place: Int, of columns: PartColumns) -> RelevanceWords.Mask {
        let category = Int(columns.kinds[place] >> 1)
        return category < categories.count ? categories[category] : 0
    }

    func mask(of place: Int, of columns: PartColumns, _ work: inout WorkBudget) -> RelevanceWords.Mask {
        let mask = maskOfCategory(of: place, of: columns)
        guard let address = PlaceRecord(columns.record(of: place)).address else { return mask }
        work.spend(Self.addressWork)
        return mask | matcher.mask(of: address.span)
    }
}

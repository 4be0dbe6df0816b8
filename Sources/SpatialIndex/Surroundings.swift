import PointsOfInterestServerAPI

/// The words of a text that places have in their addresses and categories. A search asks for them a place at a time, so they are plain
/// memory, which is read without counting references.
final class Surroundings {
    fileprivate let words: [QueryWord]
    private let categoryWords: CategoryWords
    private var matcher: WordMatcher
    /// What each word of the text begins with.
    private let initials: Column<WordInitials>
    private let lastInitials: WordInitials
    private var madeCategories: Column<RelevanceWords.Mask>?
    private lazy var allOfCategories = (0..<categories.count).reduce(0) { $0 | categories[$1] }
    private static let addressWork = 20
    /// The categories whose name the text is.
    private let named: [UInt16]
    /// Whether one of the words has three letters, or is a run.
    let hasLongWord: Bool

    init(_ words: [QueryWord], _ categoryWords: CategoryWords) {
        self.words = words
        self.categoryWords = categoryWords
        matcher = WordMatcher(words)
        initials = Column(words.map { WordInitials($0) })
        named = categoryWords.numbers(named: words)
        hasLongWord = words.contains { $0.isRun(orHas: 3) }
        lastInitials = words.last.map { WordInitials($0) } ?? .none
    }

    deinit {
        initials.free()
        madeCategories?.free()
    }

    /// For each category, the words of the text that its name has, or a word for it. Most searches don't come to it.
    private var categories: Column<RelevanceWords.Mask> {
        if let madeCategories { return madeCategories }
        let made = Column(masksOfCategories())
        madeCategories = made
        return made
    }

    private func masksOfCategories() -> [RelevanceWords.Mask] {
        var masks = [RelevanceWords.Mask](repeating: 0, count: categoryWords.count)
        for (index, word) in words.enumerated() {
            for number in categoryWords.numbers(having: word) {
                masks[Int(number)] |= 1 << RelevanceWords.Mask(index)
            }
        }
        return masks
    }

    /// The words at the beginning of the text that a name needs, at least: places of a part can't have them, and all behind them,
    /// there. All words where no place has the last one there.
    func neededCount(_ columns: PartColumns) -> Int {
        var count = words.count
        while count > 1,
            allOfCategories >> RelevanceWords.Mask(count - 1) & 1 == 1
                || columns.addressWords.mayHave(words[count - 1])
        {
            count -= 1
        }
        return count
    }

    /// Whether the text is the name of a place's category.
    @inline(__always)
    func namesCategory(of place: Int, _ columns: PartColumns) -> Bool {
        !named.isEmpty && named.contains(UInt16(truncatingIfNeeded: columns.kinds[place] >> 1))
    }

    /// Calls `body` with the places of a part whose category's name the text is, until it returns false.
    ///
    /// - Returns: whether it never did.
    func forEachOfNamedCategory(
        of columns: PartColumns, _ work: inout WorkBudget, _ body: (Int, inout WorkBudget) -> Bool
    ) -> Bool {
        named.allSatisfy { category in
            Self.trees(of: columns, category: category).allSatisfy {
                Self.forEachPlace(of: $0, columns, &work, body)
            }
        }
    }

    private static func forEachPlace(
        of tree: PackedTree, _ columns: PartColumns, _ work: inout WorkBudget,
        _ body: (Int, inout WorkBudget) -> Bool
    ) -> Bool {
        for index in tree.listedRange {
            work.spend(candidateWork)
            if work.isSpent || !body(Int(columns.listedPlaces[index]), &work) { return false }
        }
        return true
    }

    /// The trees of a part's places of a category: of those that are featured, and of the others.
    private static func trees(of columns: PartColumns, category: UInt16) -> [PackedTree] {
        [false, true].compactMap {
            columns.tree(ofKind: PackedTree.kind(category: category, isFeatured: $0))
        }
    }

    /// The places of a part that may have a word there, or that another list has; nil where finding them takes long.
    func places(having word: Int, of columns: PartColumns, orBy names: RelevancePostings?)
        -> PlacesElsewhere?
    {
        // Looking into runs takes long.
        if case .run = words[word] { return nil }
        return PlacesElsewhere(self, word, columns, orBy: names)
    }

    /// Calls `body` with the places of a part that may have all words there, by the word that the fewest may have, until it returns
    /// false; with none where all words have fewer than three letters, since these begin a word of nearly every address.
    ///
    /// - Returns: whether it never did.
    func forEachCandidate(
        of columns: PartColumns, _ work: inout WorkBudget, _ body: (Int, inout WorkBudget) -> Bool
    ) -> Bool {
        guard hasLongWord else { return true }
        var rarest: (word: Int, places: PlacesElsewhere, count: Int)?
        for word in words.indices {
            work.spend(columns.addressWords.work(ofFinding: words[word]))
            if work.isSpent { return false }
            let places = PlacesElsewhere(self, word, columns)
            let count = places.blockCount * AddressWords.blockSize + places.treeCount
            if count < rarest?.count ?? .max { rarest = (word, places, count) }
        }
        guard let rarest, rarest.count > 0 else { return true }
        for tree in rarest.places.trees {
            let isDone = Self.forEachPlace(of: tree, columns, &work) { place, work in
                !mayHaveAll(place, columns) || body(place, &work)
            }
            guard isDone else { return false }
        }
        let initials = initials[rarest.word]
        work.spend(PlaceSet.work(ofAdding: rarest.places.blockCount))
        return columns.addressWords.forEachBlock(of: rarest.places.words, placeCount: columns.listedCount) {
            block in
            let first = block * AddressWords.blockSize
            work.spend(Self.blockWork)
            if work.isSpent { return false }
            for place in first..<min(first + AddressWords.blockSize, columns.listedCount)
            where columns.addressInitials[place].meets(initials) && mayHaveAll(place, columns) {
                if !body(place, &work) { return false }
            }
            return true
        }
    }

    private static let candidateWork = 1, blockWork = 8

    /// The trees of a part's places whose category has a word.
    fileprivate func trees(of columns: PartColumns, _ word: Int) -> [PackedTree] {
        guard allOfCategories >> RelevanceWords.Mask(word) & 1 == 1 else { return [] }
        return (0..<categories.count).flatMap { category -> [PackedTree] in
            guard categories[category] >> RelevanceWords.Mask(word) & 1 == 1 else { return [] }
            return Self.trees(of: columns, category: UInt16(category))
        }
    }

    /// Whether a place may have all words there.
    @inline(__always)
    func mayHaveAll(_ place: Int, _ columns: PartColumns) -> Bool {
        let mask = maskOfCategory(of: place, of: columns)
        let initials = columns.addressInitials[place]
        for word in 0..<self.initials.count
        where mask >> RelevanceWords.Mask(word) & 1 == 0 && !initials.meets(self.initials[word]) {
            return false
        }
        return true
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

/// Places that may have a word in their addresses or categories, or that a list has.
struct PlacesElsewhere: ListedPlaces {
    let words: [Range<UInt32>]
    let trees: [PackedTree]
    private let names: RelevancePostings?
    private let columns: PartColumns

    fileprivate init(
        _ surroundings: Surroundings, _ word: Int, _ columns: PartColumns,
        orBy names: RelevancePostings? = nil
    ) {
        words = columns.addressWords.words(of: surroundings.words[word])
        trees = surroundings.trees(of: columns, word)
        self.names = names
        self.columns = columns
    }

    var blockCount: Int { columns.addressWords.blockCount(words) }
    var treeCount: Int { trees.reduce(0) { $0 + Int($1.count) } }
    var count: Int { blockCount + treeCount + (names?.count ?? 0) }

    func insert(into places: PlaceSet) {
        columns.addressWords.insertBlocks(of: words, into: places)
        for tree in trees { places.insert(tree.listedRange, of: columns.listedPlaces) }
        names?.insert(into: places)
    }
}

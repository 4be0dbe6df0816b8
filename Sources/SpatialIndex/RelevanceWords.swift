import PointsOfInterestServerAPI

/// Words of a part that follow each other in their order.
struct WordNumbers: BitwiseCopyable, Equatable {
    let first, end: UInt32

    init(_ numbers: Range<UInt32>) { (first, end) = (numbers.lowerBound, numbers.upperBound) }

    init(_ number: UInt32) { (first, end) = (number, number + 1) }

    static let none = WordNumbers(0..<0)

    var range: Range<UInt32> { first..<end }
    var isEmpty: Bool { first == end }

    @inline(__always)
    func contains(_ number: UInt32) -> Bool { number &- first < end &- first }
}

extension WordNumbers {
    /// What is in one of some ranges, as ranges that don't touch, in order. Two of them are apart, or one holds the other: each has the
    /// words with one beginning.
    static func merged(_ ranges: [WordNumbers]) -> [WordNumbers] {
        var merged: [WordNumbers] = []
        for range in ranges.sorted(by: { ($0.first, $1.end) < ($1.first, $0.end) })
        where merged.last.map({ $0.end <= range.first }) ?? true {
            merged.append(range)
        }
        return merged
    }
}

/// What the words of a search text are in a part, so that the class of each of its places is found by comparing numbers.
///
/// `Documentation/api.md` has the rule, at `sort=relevance`. All of it is plain memory, which is read without counting references.
final class RelevanceWords {
    /// A bit for each word of the text, which has at most 50.
    typealias Mask = UInt64

    /// Elements of one of the columns.
    struct Section: BitwiseCopyable {
        var start = 0, end = 0

        var isEmpty: Bool { start == end }
        var count: Int { end - start }
        @inline(__always) var indices: Range<Int> { start..<end }
    }

    /// Two ways to write a word, which may be the same; of words that no place has, `missing`.
    struct Forms: BitwiseCopyable {
        let plain, spelledOut: UInt32

        static let missing = UInt32.max

        init(plain: UInt32?, spelledOut: UInt32?) {
            (self.plain, self.spelledOut) = (plain ?? Self.missing, spelledOut ?? Self.missing)
        }

        @inline(__always)
        func contains(_ number: UInt32) -> Bool { number == plain || number == spelledOut }
    }

    struct Word: BitwiseCopyable {
        /// The words that it begins, in one way of writing it and in the other; of a run, those that begin with its only character,
        /// or the part that the fewest places have.
        var begun = WordNumbers.none, spelledOut = WordNumbers.none
        /// The words that stand for one that it begins, by an abbreviation; in `numbers`.
        var otherForms = Section()
        /// The words that are only its beginning, and that with others behind them may be the whole word; in `numbers`.
        var beginnings = Section()
        /// The parts of a run of several characters but the last one, which is a character alone; in `numbers`, empty for other words.
        var run = Section()
        /// Which words of a name may be its beginning together; in `writings`.
        var written = Section()
        /// What has to follow each other in a name that is this word; in `wholes`.
        var whole = Section()
        /// The words that it is but for errors of the kind that was looked for last, in order; in `errors`.
        var withError = Section()
        /// Both ways of writing it; in `bytes`.
        var plainForm = Section(), spelledOutForm = Section()
        var isRun = false
        var hasTwoForms = false

        @inline(__always)
        func begins(_ number: UInt32) -> Bool { begun.contains(number) || spelledOut.contains(number) }
    }

    /// A word of the text, at its first place there, and the bits of all of its places.
    struct Distinct: BitwiseCopyable {
        let index: Int
        var bits: Mask
    }

    /// Neighbouring words of the text that are written together in a name.
    struct Join: BitwiseCopyable {
        var mask: Mask
        let begun: WordNumbers
    }

    /// At most this many words are written together.
    static let maximumJoinCount = 5

    /// The first two words of a name that are the beginning of a word of the text if they follow each other.
    struct Written: BitwiseCopyable {
        let first, second: WordNumbers

        /// Those that fewer places have, and the others.
        func rarest(_ columns: WordColumns) -> (WordNumbers, WordNumbers) {
            let isFirst =
                columns.postingRange(of: first.range).count <= columns.postingRange(of: second.range).count
            return isFirst ? (first, second) : (second, first)
        }
    }

    let columns: WordColumns
    let all: Mask
    let words: Column<Word>
    /// The words of the text, each once.
    let distinct: Column<Distinct>
    let joins: Column<Join>
    /// All words that one of `joins` begins, in order.
    let joined: Column<WordNumbers>
    let numbers: Column<UInt32>
    let writings: Column<Written>
    let wholes: Column<Forms>
    private let bytes: Column<UInt8>
    /// The words with errors that were looked up.
    private(set) var errors = Column<WordNumbers>(capacity: 0)

    init(_ query: [QueryWord], _ columns: WordColumns) {
        self.columns = columns
        all = (1 << Mask(query.count)) - 1
        var lookup = WordLookup(columns)
        for word in query { lookup.append(word) }
        lookup.findJoins()
        (words, joins, numbers) = (lookup.words, lookup.joins, lookup.numbers)
        joined = Column(WordNumbers.merged((0..<lookup.joins.count).map { lookup.joins[$0].begun }))
        distinct = Self.distinct(query)
        (writings, wholes, bytes) = (lookup.writings, lookup.wholes, lookup.bytes)
    }

    deinit {
        words.free()
        distinct.free()
        joins.free()
        joined.free()
        numbers.free()
        writings.free()
        wholes.free()
        errors.free()
        bytes.free()
    }

    private static func distinct(_ query: [QueryWord]) -> Column<Distinct> {
        var distinct = Column<Distinct>(capacity: query.count)
        for (index, word) in query.enumerated() {
            let bit: Mask = 1 << Mask(index)
            if let first = (0..<distinct.count).first(where: { query[distinct[$0].index] == word }) {
                distinct[first].bits |= bit
            } else {
                distinct.append(Distinct(index: index, bits: bit))
            }
        }
        return distinct
    }

    func form(_ index: Int, of word: Word) -> UnsafeBufferPointer<UInt8> {
        Self.form(index, of: word, in: bytes)
    }

    /// A way of writing a word; both are the same for most.
    static func form(_ index: Int, of word: Word, in bytes: Column<UInt8>) -> UnsafeBufferPointer<UInt8> {
        let section = index == 0 ? word.plainForm : word.spelledOutForm
        return UnsafeBufferPointer(start: bytes.base + section.start, count: section.count)
    }

    /// Looks up the words that are a word of the text but for errors of a kind.
    ///
    /// - Returns: how many words were compared.
    func findErrors(_ relevance: RelevanceClass, ofWord index: Int) -> Int {
        words[index].withError = Section()
        guard !words[index].isRun, relevance != .begunError || index == words.count - 1 else { return 0 }
        var (found, compared): ([WordNumbers], Int) = ([], 0)
        for form in 0..<2 where form == 0 || words[index].hasTwoForms {
            let text = self.form(form, of: words[index])
            switch relevance {
            case .begunError: compared += columns.findWordsBegunWithError(text, &found)
            case .twoErrors: compared += columns.findWordsWithTwoErrors(text, &found)
            default:
                var numbers: [UInt32] = []
                compared += columns.findWordsWithError(text, &numbers)
                found += numbers.map { WordNumbers($0) }
            }
        }
        let start = errors.count
        for numbers in WordNumbers.merged(found) { errors.append(numbers) }
        words[index].withError = Section(start: start, end: errors.count)
        return compared
    }

    /// Whether a word is one of those with an error.
    func isError(_ number: UInt32, _ section: Section) -> Bool {
        let behind = section.indices.firstIndex(behind: { errors[$0].first <= number })
        return behind > section.start && errors[behind - 1].contains(number)
    }

    // MARK: Which places may match

    /// The places that may have a word of the text, some of them twice, but for those that have several words for it.
    func postings(ofWord index: Int) -> RelevancePostings {
        let word = words[index]
        var postings = RelevancePostings(columns)
        postings.add(word.begun)
        postings.add(word.spelledOut)
        for index in word.otherForms.indices { postings.add(WordNumbers(numbers[index])) }
        for join in 0..<joins.count where joins[join].mask >> Mask(index) & 1 == 1 {
            postings.add(joins[join].begun)
        }
        return postings
    }

    /// The places that may have the whole of the word that the fewest have, of so many first words in `wholes`; nil where that is
    /// no word.
    func rarestWhole(ofFirst count: Int) -> RelevancePostings? {
        var rarest: RelevancePostings?
        for index in 0..<count {
            let forms = wholes[index]
            var postings = RelevancePostings(columns)
            if forms.plain != Forms.missing { postings.add(WordNumbers(forms.plain)) }
            if forms.spelledOut != forms.plain, forms.spelledOut != Forms.missing {
                postings.add(WordNumbers(forms.spelledOut))
            }
            if postings.count < rarest?.count ?? .max { rarest = postings }
        }
        return rarest
    }

    func postings(ofErrorsInWord index: Int) -> RelevancePostings {
        var postings = RelevancePostings(columns)
        for index in words[index].withError.indices { postings.add(errors[index]) }
        return postings
    }
}

/// Places that may match, some of them more than once.
struct RelevancePostings: ListedPlaces {
    private(set) var numbers: [WordNumbers] = []
    /// Places besides those that have such words.
    private(set) var places: [UInt32] = []
    private(set) var count = 0
    private let columns: WordColumns

    init(_ columns: WordColumns) {
        self.columns = columns
    }

    mutating func add(_ words: WordNumbers) {
        let range = columns.postingRange(of: words.range)
        guard !range.isEmpty else { return }
        numbers.append(words)
        count += range.count
    }

    mutating func add(_ places: [UInt32]) {
        self.places += places
        count += places.count
    }

    func insert(into places: PlaceSet) {
        _ = forEachPlace {
            places.insert($0)
            return true
        }
    }

    /// Calls `body` with each place until it returns false.
    ///
    /// - Returns: whether it never did.
    @inline(__always)
    func forEachPlace(_ body: (Int) -> Bool) -> Bool {
        for numbers in numbers {
            for index in columns.postingRange(of: numbers.range) where !body(Int(columns.postings[index])) {
                return false
            }
        }
        for place in places where !body(Int(place)) { return false }
        return true
    }
}

extension WordColumns {
    func number(of word: [UInt8]) -> UInt32? { word.withUnsafeBufferPointer { number(of: $0) } }
}

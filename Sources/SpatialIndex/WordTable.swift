import PointsOfInterestServerAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The distinct words that a builder meets, numbered as they come: a hash table over one column of bytes.
struct WordTable {
    /// Where each word begins in `bytes`; one more than there are words.
    private(set) var starts = Column<UInt32>(capacity: 1024)
    private(set) var bytes = Column<UInt8>(capacity: 8192)
    /// The number of a word at its hash, plus one; 0 where there is none. Its size is a power of two.
    private var slots = Column<UInt32>(repeating: 0, count: 2048)

    init() { starts.append(0) }

    var count: Int { starts.count - 1 }

    /// The number of a word, which is added if it is new.
    mutating func number(of word: UnsafeBufferPointer<UInt8>) -> UInt32 {
        if 2 * count >= slots.count { grow() }
        var slot = Self.hash(word) & (slots.count - 1)
        while slots[slot] != 0 {
            let number = slots[slot] - 1
            if equals(number, word) { return number }
            slot = (slot + 1) & (slots.count - 1)
        }
        bytes.append(word)
        starts.append(UInt32(bytes.count))
        slots[slot] = UInt32(count)
        return UInt32(count - 1)
    }

    func free() {
        starts.free()
        bytes.free()
        slots.free()
    }

    func word(_ number: UInt32) -> UnsafeBufferPointer<UInt8> {
        let start = Int(starts[Int(number)])
        return UnsafeBufferPointer(start: bytes.base + start, count: Int(starts[Int(number) + 1]) - start)
    }

    /// The numbers in the order of the words' bytes. Mostly their first eight bytes decide.
    func sortedNumbers() -> [UInt32] {
        (0..<UInt32(count)).map { (head: Self.head(of: word($0)), number: $0) }
            .sorted { one, other in
                one.head != other.head
                    ? one.head < other.head : word(one.number).compared(with: word(other.number)) < 0
            }
            .map(\.number)
    }

    /// The first eight bytes as a number that has the same order; a shorter word is filled up with zeros.
    private static func head(of word: UnsafeBufferPointer<UInt8>) -> UInt64 {
        (0..<8).reduce(0) { $0 << 8 | UInt64($1 < word.count ? word[$1] : 0) }
    }

    private func equals(_ number: UInt32, _ other: UnsafeBufferPointer<UInt8>) -> Bool {
        let word = word(number)
        return word.isSame(as: other)
    }

    private mutating func grow() {
        let larger = Column<UInt32>(repeating: 0, count: 2 * slots.count)
        for number in 0..<UInt32(count) {
            var slot = Self.hash(word(number)) & (larger.count - 1)
            while larger[slot] != 0 { slot = (slot + 1) & (larger.count - 1) }
            larger[slot] = number + 1
        }
        slots.free()
        slots = larger
    }

    /// FNV-1a of 64 bits, with the high bits folded in. Names come from the database, not from strangers.
    private static func hash(_ word: UnsafeBufferPointer<UInt8>) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in word { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return Int(truncatingIfNeeded: (hash ^ hash >> 32) & 0x7FFF_FFFF)
    }
}

/// A part's words in their order, and which places have each.
struct WordColumns: BitwiseCopyable {
    let sorted: SortedWords
    /// The words' numbers in the order of their bytes from the last one to the first.
    let byEnds: Column<UInt32>
    /// Where each word's places begin in `postings`; one more than there are words.
    let postingStarts: Column<UInt32>
    /// The places of each word, each once, in spatial order.
    let postings: Column<UInt32>
    /// Where each place's words begin in `placeWords`; one more than there are places.
    let placeStarts: Column<UInt32>
    /// The words of each place, name by name in the order of `IndexEntry.foldedNames`, of runs all parts, with marks between
    /// them.
    let placeWords: Column<UInt32>

    /// Marks among the words of a place, which no word has as its number: between two names; before another way to write the
    /// word before it; before the words that apostrophes separate, written as one.
    static let (betweenNames, alternative, joined) = (UInt32.max, UInt32.max - 1, UInt32.max - 2)
    private static let lastRepetition = joined - 1, maximumNameCount: UInt32 = 1024

    @inline(__always)
    static func isMark(_ number: UInt32) -> Bool { number > lastRepetition - maximumNameCount }

    /// Stands for all words of a name that are those of an earlier one; nil where that isn't among the first 1,024.
    static func repetition(of name: Int) -> UInt32? {
        name < Int(maximumNameCount) ? lastRepetition - UInt32(name) : nil
    }

    /// The name whose words are repeated; nil for other numbers.
    static func repeatedName(_ number: UInt32) -> Int? {
        isMark(number) && number <= lastRepetition ? Int(lastRepetition - number) : nil
    }

    var memory: [any ColumnMemory] {
        sorted.memory + [byEnds, postingStarts, postings, placeStarts, placeWords]
    }

    func word(_ number: UInt32) -> UnsafeBufferPointer<UInt8> { sorted.word(number) }

    func words(beginningWith prefix: [UInt8]) -> Range<UInt32> { sorted.words(beginningWith: prefix) }

    /// The number of a word; nil where no place has it.
    func number(of word: UnsafeBufferPointer<UInt8>) -> UInt32? { sorted.number(of: word) }

    /// Less than 0 where the first one comes first in the order of `byEnds`.
    static func compareFromEnds(_ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>) -> Int
    {
        for index in 1..<(min(one.count, other.count) + 1) {
            let difference = Int(one[one.count - index]) - Int(other[other.count - index])
            if difference != 0 { return difference }
        }
        return one.count - other.count
    }

    func rangeByEnds(endingWith end: UnsafeBufferPointer<UInt8>) -> Range<Int> {
        let all = 0..<sorted.count
        let first = all.firstIndex(behind: { Self.compareFromEnds(word(byEnds[$0]), end) < 0 })
        let last = all.firstIndex(behind: { index in
            let word = word(byEnds[index])
            let tail = UnsafeBufferPointer(rebasing: word.suffix(end.count))
            return Self.compareFromEnds(tail, end) <= 0
        })
        return first..<max(first, last)
    }

    func postingCount(of word: UInt32) -> Int {
        Int(postingStarts[Int(word) + 1] - postingStarts[Int(word)])
    }

    /// The range in `postings` of the places that have one of the words; a place that has two of them is in it twice.
    func postingRange(of words: Range<UInt32>) -> Range<Int> {
        Int(postingStarts[Int(words.lowerBound)])..<Int(postingStarts[Int(words.upperBound)])
    }

    @inline(__always)
    func range(of place: Int) -> Range<Int> { Int(placeStarts[place])..<Int(placeStarts[place + 1]) }

    func has(oneOf words: Range<UInt32>, in range: Range<Int>) -> Bool {
        for index in range where words.contains(placeWords[index]) { return true }
        return false
    }

    func has(runOf words: UnsafeBufferPointer<UInt32>, in range: Range<Int>) -> Bool {
        guard range.count >= words.count else { return false }
        return (range.lowerBound...range.upperBound - words.count).contains { first in
            words.indices.allSatisfy { words[$0] == placeWords[first + $0] }
        }
    }

    static func names(in range: Range<Int>, of words: Column<UInt32>) -> some Sequence<Range<Int>> {
        sequence(state: range.lowerBound) { start -> Range<Int>? in
            guard start <= range.upperBound else { return nil }
            let name = name(from: start, in: range, of: words)
            start = name.upperBound + 1
            return name
        }
    }

    @inline(__always)
    static func name(from start: Int, in range: Range<Int>, of words: Column<UInt32>) -> Range<Int> {
        var end = start
        while end < range.upperBound, words[end] != betweenNames { end += 1 }
        return start..<end
    }
}

/// What a place of a part needs for one word of a query.
struct WordCondition {
    /// One of these: the words that begin with the query's; where it is a run, the part of it that the fewest places have.
    var words: Range<UInt32>
    var spelledOut: Range<UInt32> = 0..<0
    /// All parts of a run, one after the other: a range of `WordConditions.parts`, empty where `words` says all.
    var run = 0..<0
}

/// What a place of a part needs for all words of a query.
struct WordConditions {
    /// The one that the fewest places may fulfil comes first.
    private(set) var conditions: [WordCondition] = []
    private var parts: [UInt32] = []
    /// The places that may fulfil them, once they were gathered.
    private(set) var candidates: PlaceSet?
    private(set) var candidateCount = 0
    /// Whether all of `candidates` do.
    private(set) var isDecided = false

    init(_ query: [QueryWord], _ columns: WordColumns) {
        conditions.reserveCapacity(query.count)
        for word in query {
            switch word {
            case .word(let word): conditions.append(WordCondition(words: columns.words(beginningWith: word)))
            case .either(let plain, let spelledOut):
                conditions.append(
                    WordCondition(
                        words: columns.words(beginningWith: plain),
                        spelledOut: columns.words(beginningWith: spelledOut)))
            case .run(let run): append(run, columns)
            }
        }
        // A name that lacks one mostly lacks the first.
        conditions.sort { WordPostings($0, columns).count < WordPostings($1, columns).count }
    }

    private mutating func append(_ run: [UInt8], _ columns: WordColumns) {
        let first = parts.count
        var isMissing = false
        // Its last character may be anywhere in the name's run.
        let slice = run[...]
        for part in SearchWords.parts(ofRun: slice.span).dropLast() where !isMissing {
            let number = run[part].withUnsafeBufferPointer { columns.number(of: $0) }
            if let number { parts.append(number) } else { isMissing = true }
        }
        let rarest = parts[first...].min { columns.postingCount(of: $0) < columns.postingCount(of: $1) }
        guard let rarest, !isMissing else {
            return conditions.append(
                WordCondition(words: isMissing ? 0..<0 : columns.words(beginningWith: run)))
        }
        let run = parts.count - first > 1 ? first..<parts.count : 0..<0
        conditions.append(WordCondition(words: rarest..<rarest + 1, run: run))
    }

    /// Finds the places that have all words, each in any of their names, where many have even the rarest: from now on only
    /// these are looked at any closer. A word of a letter or two begins a word of very many places, but few have several.
    mutating func gather(_ columns: WordColumns, _ work: inout WorkBudget) {
        guard candidates == nil else { return }
        let lists: [any ListedPlaces] = conditions.map { WordPostings($0, columns) }
        let placeCount = columns.placeStarts.count - 1
        let few = placeCount / PlaceSet.placesForOne
        guard let rarest = lists.first, rarest.count > few else { return }
        let gathered = PlaceSet(placeCount)
        rarest.insert(into: gathered)
        work.spend(gathered.work + PlaceSet.work(ofAdding: rarest.count))
        var count = gathered.count
        work.spend(gathered.restrict(to: lists.dropFirst(), &count, few: few))
        (candidates, candidateCount) = (gathered, count)
        isDecided = conditions.count == 1 && parts.isEmpty
    }

    /// The work that `gather` takes, at most.
    func gatherCost(_ columns: WordColumns) -> Int {
        conditions.reduce(0) { $0 + PlaceSet.work(ofAdding: WordPostings($1, columns).count) }
    }

    /// Whether one name of a place fulfils them.
    func admit(_ place: Int, of columns: WordColumns) -> Bool {
        if let candidates {
            guard candidates.contains(place) else { return false }
            if isDecided { return true }
        }
        let range = columns.range(of: place)
        guard conditions.count > 1,
            range.contains(where: { columns.placeWords[$0] == WordColumns.betweenNames })
        else { return admit(range, of: columns) }
        // Candidates have all words in all of their names together.
        guard candidates != nil || admit(range, of: columns) else { return false }
        return WordColumns.names(in: range, of: columns.placeWords).contains { admit($0, of: columns) }
    }

    private func admit(_ range: Range<Int>, of columns: WordColumns) -> Bool {
        for condition in conditions where !columns.has(oneOf: condition.words, in: range) {
            if condition.spelledOut.isEmpty || !columns.has(oneOf: condition.spelledOut, in: range) {
                return false
            }
        }
        guard !parts.isEmpty else { return true }
        return parts.withUnsafeBufferPointer { parts in
            conditions.allSatisfy {
                $0.run.isEmpty || columns.has(runOf: UnsafeBufferPointer(rebasing: parts[$0.run]), in: range)
            }
        }
    }
}

/// The places that may fulfil a condition, some of them twice.
struct WordPostings: ListedPlaces {
    private let words, spelledOut: Range<Int>
    private let condition: WordCondition
    private let postings: Column<UInt32>

    init(_ condition: WordCondition, _ columns: WordColumns) {
        self.condition = condition
        postings = columns.postings
        words = columns.postingRange(of: condition.words)
        spelledOut = columns.postingRange(of: condition.spelledOut)
    }

    var count: Int { words.count + spelledOut.count }

    func insert(into places: PlaceSet) {
        places.insert(words, of: postings)
        places.insert(spelledOut, of: postings)
    }

    /// For each word, where in the part's postings its places are; nil where these are more ranges than a number.
    func ranges(of columns: WordColumns, atMost maximumCount: Int) -> [Range<Int>]? {
        guard condition.words.count + condition.spelledOut.count <= maximumCount else { return nil }
        return (Array(condition.words) + Array(condition.spelledOut)).map {
            columns.postingRange(of: $0..<$0 + 1)
        }
    }

    /// Where in the part's postings one of them is.
    subscript(index: Int) -> Int {
        index < words.count ? words.lowerBound + index : spelledOut.lowerBound + index - words.count
    }
}

extension PartFilter {
    /// The postings of the word, or of the property's values, that the fewest places have; nil without either.
    func rarestPostings(_ columns: PartColumns) -> ConditionPostings? {
        rarest(of: columns).map { ConditionPostings($0, columns.words) }
    }

    /// How many places are looked at where they are looked at one by one; nil without words and properties.
    func listedCount(_ columns: PartColumns) -> Int? {
        if let words, words.candidates != nil { return words.candidateCount }
        return rarestPostings(columns)?.count
    }

    /// The condition of the word that the fewest places have; nil without words.
    func rarestWord(_ columns: PartColumns) -> WordCondition? {
        words?.conditions.first
    }
}

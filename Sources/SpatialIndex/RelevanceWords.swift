import PointsOfInterestServerAPI

/// What the words of a search text are in a part, so that the class of each of its places is found by comparing numbers.
///
/// `Documentation/api.md` has the rule, at `sort=relevance`.
struct RelevanceWords {
    /// A bit for each word of the text, which has at most 50.
    typealias Mask = UInt64

    /// A word of the text.
    struct Word {
        /// The words that it begins, in one way of writing it and in the other; of a run, those that begin with its only character,
        /// or the part that the fewest places have.
        var begun = (0..<UInt32(0), 0..<UInt32(0))
        /// The words that stand for one that it begins, by an abbreviation.
        var otherForms: [UInt32] = []
        /// The words that are only its beginning, and that with one or two behind them may be the whole word.
        var beginnings: [UInt32] = []
        /// Of the words that together may be it, those that the fewest places have.
        var written: [Range<UInt32>] = []
        /// The parts of a run of several characters but the last one, which is a character alone; empty for other words.
        var run: [UInt32] = []
        /// What has to follow each other in a name that is this word: sets of at most two numbers.
        var whole: [(UInt32?, UInt32?)] = []
        /// The words that differ from it by one error, in order; nil until they are looked up.
        var withError: [UInt32]?
        /// The bytes in both ways of writing it, which may be the same.
        let forms: ([UInt8], [UInt8])
        let isRun: Bool
    }

    /// What tells for most words of a name whether a word of the text begins them.
    private struct Beginning {
        let begun: (Range<UInt32>, Range<UInt32>)
        let hasOtherForms, isLongRun: Bool

        @inline(__always)
        func contains(_ number: UInt32) -> Bool {
            begun.0.contains(number) || begun.1.contains(number)
        }
    }

    /// Neighbouring words of the text that are written together in a name.
    private struct Join {
        let mask: Mask
        let begun: Range<UInt32>
    }

    private(set) var words: [Word]
    private let beginnings: [Beginning]
    private var joins: [Join] = []
    /// The bits of all words.
    let all: Mask
    private let columns: WordColumns

    init(_ query: [QueryWord], _ columns: WordColumns) {
        self.columns = columns
        words = query.map { Word($0, columns) }
        beginnings = words.map {
            Beginning(begun: $0.begun, hasOtherForms: !$0.otherForms.isEmpty, isLongRun: !$0.run.isEmpty)
        }
        all = (1 << Mask(query.count)) - 1
        findJoins()
    }

    /// Looks up each two and three neighbours, written together.
    private mutating func findJoins() {
        for first in words.indices where !words[first].isRun {
            for form in 0..<2 where form == 0 || words.contains(where: \.hasTwoForms) {
                var text = words[first].form(form)
                for last in words.indices.dropFirst(first + 1).prefix(Self.maximumJoinCount - 1) {
                    guard !words[last].isRun else { break }
                    text += words[last].form(form)
                    let begun = columns.words(beginningWith: text)
                    guard !begun.isEmpty else { break }
                    joins.append(Join(mask: Self.mask(first...last), begun: begun))
                }
            }
        }
    }

    /// At most this many words are written together.
    private static let maximumJoinCount = 3

    private static func mask(_ words: ClosedRange<Int>) -> Mask {
        words.reduce(0) { $0 | 1 << Mask($1) }
    }

    // MARK: Which places may match

    /// The places that may have a word of the text, some of them twice.
    func postings(ofWord index: Int) -> RelevancePostings {
        let word = words[index]
        var postings = RelevancePostings(columns)
        postings.add(word.begun.0)
        postings.add(word.begun.1)
        for number in word.otherForms { postings.add(number..<number + 1) }
        for numbers in word.written { postings.add(numbers) }
        for join in joins where join.mask >> Mask(index) & 1 == 1 { postings.add(join.begun) }
        return postings
    }

    /// The places that may have the whole of the word that the fewest have; nil where a word is no whole word of any place.
    var rarestWhole: RelevancePostings? {
        var rarest: RelevancePostings?
        for element in words.flatMap(\.whole) {
            var postings = RelevancePostings(columns)
            for number in [element.0, element.1 == element.0 ? nil : element.1] {
                if let number { postings.add(number..<number + 1) }
            }
            if postings.count < rarest?.count ?? .max { rarest = postings }
        }
        return rarest?.count == 0 ? nil : rarest
    }

    /// The places that have a word of the text with an error, after `findErrors`.
    func postings(ofErrorsInWord index: Int) -> RelevancePostings {
        var postings = RelevancePostings(columns)
        for number in words[index].withError ?? [] { postings.add(number..<number + 1) }
        return postings
    }

    /// Looks up the words that differ from a word of the text by an error.
    ///
    /// - Returns: how many words were compared.
    mutating func findErrors(ofWord index: Int) -> Int {
        guard words[index].withError == nil, !words[index].isRun else { return 0 }
        var (found, compared): (Set<UInt32>, Int) = ([], 0)
        for form in 0..<2 where form == 0 || words[index].hasTwoForms {
            let errors = columns.wordsWithError(words[index].form(form))
            found.formUnion(errors.found)
            compared += errors.compared
        }
        words[index].withError = found.sorted()
        return compared
    }

    // MARK: What a name is

    /// The words of the text that a name has.
    func mask(of name: Range<Int>) -> Mask {
        var mask: Mask = 0
        beginnings.withUnsafeBufferPointer { beginnings in
            for entry in name {
                let number = columns.placeWords[entry]
                for index in beginnings.indices where mask >> Mask(index) & 1 == 0 {
                    let isBegun =
                        beginnings[index].contains(number)
                        ? !beginnings[index].isLongRun || columns.has(runOf: words[index].run[...], in: name)
                        : beginnings[index].hasOtherForms && words[index].otherForms.contains(number)
                    if isBegun { mask |= 1 << Mask(index) }
                }
            }
        }
        guard mask != all else { return mask }
        for join in joins where mask & join.mask != join.mask && columns.has(oneOf: join.begun, in: name) {
            mask |= join.mask
        }
        for index in words.indices
        where mask >> Mask(index) & 1 == 0 && !words[index].beginnings.isEmpty
            && isJoined(words[index], in: name)
        {
            mask |= 1 << Mask(index)
        }
        return mask
    }

    /// Whether a name has a word of the text as several neighbouring ones.
    private func isJoined(_ word: Word, in name: Range<Int>) -> Bool {
        for entry in name where word.beginnings.contains(columns.placeWords[entry]) {
            for form in 0..<2 where form == 0 || word.hasTwoForms {
                let rest = word.form(form)[...]
                if isJoined(rest, from: entry, of: name, count: 1) { return true }
            }
        }
        return false
    }

    /// Whether a text is the word at an entry of a name, the `count`th of those that are joined, and what follows that.
    private func isJoined(_ text: ArraySlice<UInt8>, from entry: Int, of name: Range<Int>, count: Int) -> Bool
    {
        let word = columns.word(columns.placeWords[entry])
        if word.count >= text.count { return count > 1 && word.starts(with: text) }
        guard count < Self.maximumJoinCount, Word.hasTwoCharacters(word), text.starts(with: word) else {
            return false
        }
        let rest = text.dropFirst(word.count)
        return forms(behind: entry, of: name).contains {
            isJoined(rest, from: $0, of: name, count: count + 1)
        }
    }

    /// Where the word is that follows an entry of a name, in all ways of writing it.
    private func forms(behind entry: Int, of name: Range<Int>) -> [Int] {
        var next = entry + 1
        while next < name.upperBound, columns.placeWords[next] == WordColumns.alternative { next += 2 }
        next = endOfJoined(from: next, of: name)
        guard next < name.upperBound else { return [] }
        var forms = [next]
        while next + 2 < name.upperBound, columns.placeWords[next + 1] == WordColumns.alternative {
            next += 2
            forms.append(next)
        }
        return forms
    }

    /// Where the words that are written as one end that begin at an entry of a name; the entry itself where there are none.
    private func endOfJoined(from entry: Int, of name: Range<Int>) -> Int {
        var next = entry
        while next < name.upperBound, columns.placeWords[next] == WordColumns.joined {
            next += 1
            // A run has a part for each of its characters, the last one alone.
            while SearchWords.isPart(ofRunWithMore: columns.word(columns.placeWords[next])) { next += 1 }
            next += 1
        }
        return next
    }

    /// The class of a name that has all words.
    func classOfAll(_ name: Range<Int>) -> RelevanceClass {
        var position = name.lowerBound
        for (index, word) in words.enumerated() {
            let isLast = index == words.count - 1
            for (number, element) in word.whole.enumerated() {
                guard position < name.upperBound else { return .words }
                let isEnd = isLast && number == word.whole.count - 1
                var (isWhole, isBegun) = (false, false)
                var entry = position
                while true {
                    let other = columns.placeWords[entry]
                    isWhole = isWhole || other == element.0 || other == element.1
                    // A run's last character may be followed by others.
                    isBegun =
                        isBegun
                        || isEnd
                            && (word.isRun && number > 0 || word.begun.0.contains(other)
                                || word.begun.1.contains(other))
                    guard entry + 2 < name.upperBound,
                        columns.placeWords[entry + 1] == WordColumns.alternative
                    else { break }
                    entry += 2
                }
                position = endOfJoined(from: entry + 1, of: name)
                if isEnd, isWhole, position == name.upperBound { return .name }
                if isEnd { return isWhole || isBegun ? .beginning : .words }
                guard isWhole else { return .words }
            }
        }
        return .words
    }

    /// Whether a name has a word of the text with an error, after `findErrors`.
    func hasError(ofWord index: Int, in name: Range<Int>) -> Bool {
        guard let errors = words[index].withError, !errors.isEmpty else { return false }
        return name.contains { entry in
            let number = columns.placeWords[entry]
            let place = errors.firstIndex(behind: { $0 < number })
            return place < errors.count && errors[place] == number
        }
    }
}

extension RelevanceWords.Word {
    init(_ word: QueryWord, _ columns: WordColumns) {
        switch word {
        case .run(let run):
            (forms, isRun) = ((run, run), true)
            var parts: [UInt32?] = []
            run.withUnsafeBufferPointer { run in
                SearchWords.forEachPart(ofRun: run) { parts.append(columns.number(of: $0)) }
            }
            whole = parts.map { ($0, $0) }
            let pairs = parts.dropLast()
            if pairs.isEmpty {
                begun.0 = columns.words(beginningWith: run)
            } else if !pairs.contains(nil) {
                self.run = pairs.compactMap(\.self)
                let rarest = self.run.min { columns.postingCount(of: $0) < columns.postingCount(of: $1) }
                if let rarest { begun.0 = rarest..<rarest + 1 }
            }
            return
        case .word(let word): (forms, isRun) = ((word, word), false)
        case .either(let plain, let spelledOut): (forms, isRun) = ((plain, spelledOut), false)
        }
        begun.0 = columns.words(beginningWith: forms.0)
        if hasTwoForms { begun.1 = columns.words(beginningWith: forms.1) }
        whole = [(columns.number(of: forms.0), columns.number(of: forms.1))]
        for index in 0..<2 where index == 0 || hasTwoForms {
            let form = form(index)
            otherForms += Abbreviations.words(inOtherFormThanBegunBy: form).compactMap {
                columns.number(of: $0)
            }
            findJoins(of: form, columns)
        }
    }

    var hasTwoForms: Bool { forms.0 != forms.1 }

    func form(_ index: Int) -> [UInt8] { index == 0 ? forms.0 : forms.1 }

    /// Looks up which two or three words the word may be in a name.
    private mutating func findJoins(of form: [UInt8], _ columns: WordColumns) {
        for cut in Self.cuts(of: form) {
            guard let first = columns.number(of: Array(form[..<cut])) else { continue }
            let rest = Array(form[cut...])
            let count = written.count
            addJoin([first..<first + 1, columns.words(beginningWith: rest)], columns)
            for cut in Self.cuts(of: rest) {
                guard let second = columns.number(of: Array(rest[..<cut])) else { continue }
                let last = columns.words(beginningWith: Array(rest[cut...]))
                addJoin([first..<first + 1, second..<second + 1, last], columns)
            }
            if written.count > count { beginnings.append(first) }
        }
    }

    private mutating func addJoin(_ numbers: [Range<UInt32>], _ columns: WordColumns) {
        guard let last = numbers.last, !last.isEmpty else { return }
        let rarest = numbers.min { columns.postingRange(of: $0).count < columns.postingRange(of: $1).count }
        if let rarest, !written.contains(rarest) { written.append(rarest) }
    }

    /// Where a word can be cut behind two characters or more.
    private static func cuts(of word: [UInt8]) -> [Int] {
        Array(word.indices.filter { $0 > 0 && word[$0] & 0xC0 != 0x80 }.dropFirst())
    }

    static func hasTwoCharacters(_ word: UnsafeBufferPointer<UInt8>) -> Bool {
        SearchWords.characterEnd(in: word, from: 0) < word.count
    }
}

/// Places that may match, some of them more than once.
struct RelevancePostings {
    private(set) var ranges: [Range<Int>] = []
    private(set) var count = 0
    private let columns: WordColumns

    init(_ columns: WordColumns) {
        self.columns = columns
    }

    mutating func add(_ words: Range<UInt32>) {
        let range = columns.postingRange(of: words)
        guard !range.isEmpty else { return }
        ranges.append(range)
        count += range.count
    }
}

extension WordColumns {
    func number(of word: [UInt8]) -> UInt32? { word.withUnsafeBufferPointer { number(of: $0) } }

    /// The words that differ by one error from a word of four letters or more; none for a shorter one. They have its first or its
    /// last half, or two letters of both halves are swapped.
    func wordsWithError(_ word: [UInt8]) -> (found: [UInt32], compared: Int) {
        let starts = word.indices.filter { word[$0] & 0xC0 != 0x80 }
        guard starts.count >= SearchError.minimumLetterCount else { return ([], 0) }
        let middle = starts[starts.count / 2]
        var (found, compared): ([UInt32], Int) = ([], 0)
        word.withUnsafeBufferPointer { word in
            let beginning = words(beginningWith: Array(word[..<middle]))
            for number in beginning where SearchError.isOne(between: word, and: self.word(number)) {
                found.append(number)
            }
            let ends = rangeByEnds(endingWith: UnsafeBufferPointer(rebasing: word[middle...]))
            for index in ends where SearchError.isOne(between: word, and: self.word(byEnds[index])) {
                found.append(byEnds[index])
            }
            compared = beginning.count + ends.count
        }
        let (left, right) = (starts[starts.count / 2 - 1], starts.count / 2 + 1)
        let end = right < starts.count ? starts[right] : word.count
        let swapped = word[..<left] + word[middle..<end] + word[left..<middle] + word[end...]
        if !swapped.elementsEqual(word), let number = number(of: Array(swapped)) { found.append(number) }
        return (found, compared)
    }
}

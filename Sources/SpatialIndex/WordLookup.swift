import PointsOfInterestServerAPI

/// Looks up the words of a search text in a part.
struct WordLookup {
    private let columns: WordColumns
    private(set) var words = Column<RelevanceWords.Word>(capacity: 4)
    private(set) var joins = Column<RelevanceWords.Join>(capacity: 0)
    private(set) var numbers = Column<UInt32>(capacity: 8)
    private(set) var writings = Column<RelevanceWords.Written>(capacity: 4)
    private(set) var wholes = Column<RelevanceWords.Forms>(capacity: 4)
    private(set) var bytes = Column<UInt8>(capacity: 100)

    init(_ columns: WordColumns) {
        self.columns = columns
    }

    mutating func append(_ query: QueryWord) {
        var word = RelevanceWords.Word()
        switch query {
        case .run(let run):
            word.isRun = true
            word.plainForm = append(run)
            word.spelledOutForm = word.plainForm
            lookUp(run: run, of: &word)
        case .word(let form):
            word.plainForm = append(form)
            word.spelledOutForm = word.plainForm
            lookUp(form, nil, of: &word)
        case .either(let plain, let spelledOut):
            word.plainForm = append(plain)
            word.spelledOutForm = append(spelledOut)
            word.hasTwoForms = plain != spelledOut
            lookUp(plain, word.hasTwoForms ? spelledOut : nil, of: &word)
        }
        words.append(word)
    }

    private mutating func append(_ form: [UInt8]) -> RelevanceWords.Section {
        let start = bytes.count
        form.withUnsafeBufferPointer { bytes.append($0) }
        return RelevanceWords.Section(start: start, end: bytes.count)
    }

    private mutating func append(_ new: [UInt32]) -> RelevanceWords.Section {
        let start = numbers.count
        for number in new { numbers.append(number) }
        return RelevanceWords.Section(start: start, end: numbers.count)
    }

    private mutating func lookUp(run: [UInt8], of word: inout RelevanceWords.Word) {
        let slice = run[...]
        let parts = SearchWords.parts(ofRun: slice.span).map { part in
            run[part].withUnsafeBufferPointer { columns.number(of: $0) }
        }
        word.whole.start = wholes.count
        for part in parts {
            wholes.append(.init(plain: part, spelledOut: part))
        }
        word.whole.end = wholes.count
        let pairs = parts.dropLast()
        if pairs.isEmpty {
            word.begun = WordNumbers(columns.words(beginningWith: run))
        } else if !pairs.contains(nil) {
            let pairs = pairs.compactMap(\.self)
            word.run = append(pairs)
            let rarest = pairs.min { columns.postingCount(of: $0) < columns.postingCount(of: $1) }
            if let rarest { word.begun = WordNumbers(rarest) }
        }
    }

    private mutating func lookUp(_ plain: [UInt8], _ spelledOut: [UInt8]?, of word: inout RelevanceWords.Word)
    {
        var (otherForms, beginnings): ([UInt32], [UInt32]) = ([], [])
        let firstWriting = writings.count
        let exact = lookUp(plain, &word.begun, &otherForms, &beginnings)
        let spelled = spelledOut.map { lookUp($0, &word.spelledOut, &otherForms, &beginnings) }
        word.written = RelevanceWords.Section(start: firstWriting, end: writings.count)
        word.whole.start = wholes.count
        wholes.append(.init(plain: exact, spelledOut: spelled ?? exact))
        word.whole.end = wholes.count
        word.otherForms = append(otherForms)
        word.beginnings = append(beginnings)
    }

    /// Looks up one way of writing a word.
    private mutating func lookUp(
        _ form: [UInt8], _ begun: inout WordNumbers, _ otherForms: inout [UInt32],
        _ beginnings: inout [UInt32]
    ) -> UInt32? {
        var exact: UInt32?
        columns.sorted.forEachBeginning(of: form) { end, words, isWord in
            if end == form.count {
                begun = WordNumbers(words)
                exact = isWord ? words.lowerBound : nil
            } else if isWord, form[..<end].hasTwoCharacters,
                findWritings(of: words.lowerBound, with: Array(form[end...]))
            {
                beginnings.append(words.lowerBound)
            }
        }
        for other in Abbreviations.words(inOtherFormThanBegunBy: form) {
            if let number = columns.number(of: other) { otherForms.append(number) }
        }
        return exact
    }

    /// Looks up which words may follow a word in a name, so that with these, and maybe with others behind them, it begins with itself
    /// and the rest.
    ///
    /// - Returns: whether there are any.
    private mutating func findWritings(of first: UInt32, with rest: [UInt8]) -> Bool {
        let count = writings.count
        columns.sorted.forEachBeginning(of: rest) { end, words, isWord in
            if end == rest.count {
                writings.append(.init(first: WordNumbers(first), second: WordNumbers(words)))
            } else if isWord {
                writings.append(.init(first: WordNumbers(first), second: WordNumbers(words.lowerBound)))
            }
        }
        return writings.count > count
    }

    /// Looks up neighbours, written together.
    mutating func findJoins() {
        for first in 0..<words.count where !words[first].isRun {
            for form in 0..<2 where form == 0 || (0..<words.count).contains(where: { words[$0].hasTwoForms })
            {
                var text = Array(self.form(form, of: words[first]))
                for last in (first + 1)..<min(words.count, first + RelevanceWords.maximumJoinCount) {
                    guard !words[last].isRun else { break }
                    text += self.form(form, of: words[last])
                    let begun = columns.words(beginningWith: text)
                    guard !begun.isEmpty else { break }
                    let (mask, numbers) = (Self.mask(first...last), WordNumbers(begun))
                    if let same = (0..<joins.count).first(where: { joins[$0].begun == numbers }) {
                        joins[same].mask |= mask
                    } else {
                        joins.append(RelevanceWords.Join(mask: mask, begun: numbers))
                    }
                }
            }
        }
    }

    private static func mask(_ words: ClosedRange<Int>) -> RelevanceWords.Mask {
        words.reduce(0) { $0 | 1 << RelevanceWords.Mask($1) }
    }

    private func form(_ index: Int, of word: RelevanceWords.Word) -> UnsafeBufferPointer<UInt8> {
        RelevanceWords.form(index, of: word, in: bytes)
    }
}

extension ArraySlice<UInt8> {
    /// Whether a text in UTF-8 is longer than a character.
    fileprivate var hasTwoCharacters: Bool { dropFirst().contains { $0 & 0xC0 != 0x80 } }
}

/// The rule of `sort=relevance` in `Documentation/api.md`, written down as it reads there, word by word and name by name, without
/// anything of the server's.
package struct ExpectedRelevance {
    package typealias Word = [Unicode.Scalar]

    /// The classes of the table, from the best to the worst.
    package enum Class: Int, CaseIterable, Sendable {
        case name, category, beginning, words, surroundings, elsewhere, error

        /// The points of the class.
        package var points: Int {
            switch self {
            case .name: 1000
            case .category: 800
            case .beginning: 300
            case .words, .surroundings: 100
            case .elsewhere, .error: 0
            }
        }
    }

    /// What places are looked for by, in this order: each only where no place has been found by those before it.
    package enum Step: Int, CaseIterable, Sendable {
        case table, begunError, twoErrors, leftOut
    }

    /// How a place is found.
    package struct Match: Equatable, Sendable {
        /// What it is found by.
        package let step: Step
        /// The class of the table that it has, without the word that is left out; nil where it is found by a list item that has
        /// none.
        package let relevance: Class?
        /// The numbers of the names that it is found by; empty for the classes `category` and `elsewhere`.
        package let names: [Int]
        /// The number of the word that is left out.
        package let leftOut: Int?

        /// The number of the group that comes before those with higher numbers, whatever their points.
        package var group: Int {
            switch step {
            case .table: relevance == .error ? 1 : 0
            case .begunError: 2
            case .twoErrors: 3
            case .leftOut: 4
            }
        }

        /// The points of a place that is found so.
        package func points(importance: Int, isNear: Bool) -> Int {
            (relevance?.points ?? 0) + importance + (isNear ? 1500 : 0)
        }
    }

    /// The words on the other side of each abbreviation.
    package static let abbreviations: [String: [String]] = [
        "st": ["saint", "sankt", "street"], "ste": ["sainte"], "sta": ["santa"], "sto": ["santo"],
        "mt": ["mount", "mont"], "mtn": ["mountain"], "ft": ["fort"], "pt": ["point", "port"],
        "ave": ["avenue"], "av": ["avenue", "avenida"], "blvd": ["boulevard"], "bd": ["boulevard"],
        "bvd": ["boulevard"], "rd": ["road"], "dr": ["drive", "doctor"], "ln": ["lane"], "ct": ["court"],
        "sq": ["square"], "hwy": ["highway"], "pkwy": ["parkway"], "pl": ["place", "platz", "plaza"],
        "pza": ["plaza"], "pk": ["park"], "str": ["strasse"], "hbf": ["hauptbahnhof"], "bf": ["bahnhof"],
        "bhf": ["bahnhof"], "stn": ["station"], "ctr": ["center", "centre"], "univ": ["university"],
        "uni": ["universitat"], "intl": ["international"], "natl": ["national"], "gen": ["general"],
        "pres": ["presidente"], "cd": ["ciudad"], "co": ["county"], "twp": ["township"], "hts": ["heights"],
        "spgs": ["springs"], "bch": ["beach"], "vlg": ["village"], "ул": ["улица"], "пл": ["площадь"],
        "пр": ["проспект"], "им": ["имени"],
    ]

    /// Each word of the table beside the one on the other side.
    private static let pairs: [(Word, Word)] = abbreviations.flatMap { short, long in
        long.flatMap { long in
            let (short, long) = (Array(short.unicodeScalars), Array(long.unicodeScalars))
            return [(short, long), (long, short)]
        }
    }

    /// A word of a text in both ways of writing it.
    fileprivate struct Piece: Sendable {
        let forms: [Word]
        let isRun: Bool
        var isOneLetter: Bool { !isRun && forms[0].count == 1 }

        init(_ characters: [FoldedCharacter]) {
            forms = [FoldedCharacter.plain(characters[...]), FoldedCharacter.spelledOut(characters[...])]
            isRun = characters[0].isOfRun
        }

        /// Whether it begins a word, in either way of writing it.
        func begins(_ word: Word) -> Bool { forms.contains { word.begins(with: $0) } }

        /// Whether they are the same but for how letters are written.
        func isSame(as other: Piece) -> Bool { forms.contains { other.forms.contains($0) } }
    }

    /// A name as the rule sees it.
    fileprivate struct Name: Sendable {
        /// The words in their order, those between apostrophes each for itself, and each run as one.
        let pieces: [Piece]
        /// Words with an apostrophe, written as one: the number of the word that follows, and what they are.
        let joined: [(next: Int, piece: Piece)]
        /// The words as in Search.
        let searched: [Word]
        /// The words that aren't runs, in both ways of writing them.
        let forms: [Word]
        /// The words of the table of abbreviations on whose other side a word of the name is.
        let otherSides: [Word]

        init(_ name: String) {
            var pieces: [Piece] = []
            var joined: [(next: Int, piece: Piece)] = []
            for chunk in FoldedCharacter.characters(of: name).split(separator: .separator).map(Array.init) {
                let between = NameWords.pieces(of: chunk)
                var next = pieces.count
                var lengths = between.map(\.count)[...]
                pieces += between.map(Piece.init)
                guard chunk.contains(.apostrophe) else { continue }
                for one in NameWords.pieces(of: chunk.filter { $0 != .apostrophe }) {
                    var length = 0
                    while length < one.count {
                        length += lengths.removeFirst()
                        next += 1
                    }
                    joined.append((next, Piece(one)))
                }
            }
            let forms = (pieces + joined.map(\.piece)).filter { !$0.isRun }.flatMap(\.forms)
            self.pieces = pieces
            self.joined = joined
            self.forms = forms
            searched = Array(NameWords(name).words)
            otherSides = ExpectedRelevance.pairs.filter { forms.contains($0.0) }.map(\.1)
        }

        /// Whether it has a word of a text.
        func has(_ index: Int, of words: [Piece]) -> Bool {
            let word = words[index]
            return searched.contains(where: word.begins)
                || otherSides.contains(where: word.begins)
                || beginsWithNeighbours(index, of: words)
                || isBegunByNeighbours(word)
        }

        /// Whether one of its words begins with two to five neighbouring words of a text, written together, with this one.
        private func beginsWithNeighbours(_ index: Int, of words: [Piece]) -> Bool {
            for first in words.indices where first <= index {
                for last in words.indices where last >= index && (1...4).contains(last - first) {
                    let neighbours = words[first...last]
                    if neighbours.contains(where: \.isRun) { continue }
                    let together = [0, 1].map { form in neighbours.flatMap { $0.forms[form] } }
                    if forms.contains(where: { form in together.contains { form.begins(with: $0) } }) {
                        return true
                    }
                }
            }
            return false
        }

        /// Whether two to five of its neighbouring words, written together, begin with a word.
        private func isBegunByNeighbours(_ word: Piece) -> Bool {
            guard !word.isRun else { return false }
            let starts = pieces.indices.map { (next: $0 + 1, piece: pieces[$0]) } + joined
            return starts.contains { start in
                word.forms.contains { goes($0, beyond: start.piece, next: start.next, atMost: 4) }
            }
        }

        /// Whether a text goes beyond `piece`, and ends in one of the words behind that, the first of which is `next`.
        private func goes(_ text: Word, beyond piece: Piece, next: Int, atMost count: Int) -> Bool {
            guard count > 0, !piece.isRun, next < pieces.count, !pieces[next].isRun else { return false }
            return piece.forms.contains { form in
                // The first of them has two characters or more.
                guard form.count >= (count == 4 ? 2 : 1), form.count < text.count, text.begins(with: form)
                else { return false }
                let rest = Array(text.dropFirst(form.count))
                return pieces[next].forms.contains { $0.begins(with: rest) }
                    || goes(rest, beyond: pieces[next], next: next + 1, atMost: count - 1)
            }
        }

        /// The numbers of the words of a text that it doesn't have.
        func missing(of words: [Piece]) -> [Int] { words.indices.filter { !has($0, of: words) } }
    }

    /// A place as the rule sees it.
    package struct Place: Sendable {
        fileprivate let names: [Name]
        /// The words of the category's name, and of each label and other word for it.
        fileprivate let categories: [[Piece]]
        /// The words of the address, and of all of these.
        private let surroundings: [Word]

        /// Reads a place's names, the first of several that it is found by first, and the words for its category in all languages.
        package init(names: [String], address: String?, category: String, labels: [String] = []) {
            self.names = names.map { Name($0) }
            categories = ([category] + labels).map { Name($0).pieces }
            surroundings = ([address ?? "", category] + labels).flatMap { NameWords($0).words }
        }

        /// Whether it has a word elsewhere.
        fileprivate func hasElsewhere(_ word: Piece) -> Bool { surroundings.contains(where: word.begins) }

        /// Whether it has all words elsewhere, and one of them isn't short.
        fileprivate func hasElsewhere(_ words: [Piece]) -> Bool {
            words.allSatisfy { hasElsewhere($0) } && words.contains { $0.isRun || $0.forms[0].count >= 3 }
        }
    }

    private let words: [Piece]
    /// The words, and where some of them mean nothing, those without them.
    private let readings: [[Piece]]
    /// The words as they are written in the search text.
    package let writtenWords: [String]

    /// Reads a search text.
    package init(searchText: String) {
        words = NameWords.pieces(of: FoldedCharacter.characters(of: searchText)).prefix(50).map(Piece.init)
        let reduced = Self.withoutMeaningless(words)
        readings = reduced.count < words.count ? [words, reduced] : [words]
        writtenWords = Array(Self.writtenWords(of: searchText).prefix(50))
    }

    /// Each word of a text as it is written there: from the character that its first one comes of to the one that its last one
    /// comes of, with the marks behind that.
    private static func writtenWords(of text: String) -> [String] {
        let scalars = Array(text.unicodeScalars)
        /// How many characters come of each.
        let counts = scalars.map { FoldedCharacter.characters(of: String($0)).count }
        /// What each character comes of.
        let origins = counts.indices.flatMap { Array(repeating: $0, count: counts[$0]) }
        let characters = FoldedCharacter.characters(of: text)
        var position = 0
        return NameWords.pieces(of: characters).map { piece in
            while characters[position] == .separator || characters[position] == .apostrophe { position += 1 }
            let first = origins[position]
            position += piece.count
            var end = origins[position - 1] + 1
            while end < scalars.count, counts[end] == 0 { end += 1 }
            return String(String.UnicodeScalarView(scalars[first..<end]))
        }
    }

    /// How a place is found by the table or by one of the list items, whatever has been found by those before; nil where it isn't.
    package func match(_ place: Place, by step: Step) -> Match? {
        guard !words.isEmpty else { return nil }
        switch step {
        case .table:
            return found(place).map {
                Match(step: step, relevance: $0.relevance, names: $0.names, leftOut: nil)
            }
        case .begunError, .twoErrors:
            let names = place.names.indices.filter {
                step == .begunError
                    ? Self.isBegunWithError(place.names[$0], words)
                    : Self.hasTwoErrors(place.names[$0], words)
            }
            return names.isEmpty ? nil : Match(step: step, relevance: nil, names: names, leftOut: nil)
        case .leftOut:
            return foundWithoutOne(place)
        }
    }

    /// The class of the table that a place has, and the names that have it, of which `category` and `elsewhere` have none; nil where
    /// it has no class.
    package func found(_ place: Place) -> (relevance: Class, names: [Int])? {
        var best: (relevance: Class, names: [Int])?
        for (index, words) in readings.enumerated() {
            guard let found = Self.found(place, words), index == 0 || found.relevance != .error else {
                continue
            }
            guard let known = best else {
                best = found
                continue
            }
            let isBetter =
                known.relevance == .error
                ? found.relevance != .error
                : found.relevance != .error && found.relevance.points > known.relevance.points
            if isBetter { best = found }
        }
        return best
    }

    /// The words without an article at the beginning, what says "near me" at the end, and "and" between two others.
    private static func withoutMeaningless(_ words: [Piece]) -> [Piece] {
        func pieces(_ text: String) -> [Piece] {
            NameWords.pieces(of: FoldedCharacter.characters(of: text)).map(Piece.init)
        }
        func isOne(_ word: Piece, of others: String) -> Bool {
            pieces(others).contains { $0.forms == word.forms }
        }
        var rest = words
        let endings = [
            "near me", "around me", "nearby", "in der Nähe", "in meiner Nähe", "près de moi", "à proximité",
            "cerca de mí", "cerca",
        ]
        for ending in endings.map(pieces)
        where rest.count == words.count && ending.count < words.count
            && zip(words.suffix(ending.count), ending).allSatisfy({ $0.forms == $1.forms })
        {
            rest.removeLast(ending.count)
        }
        if rest.count > 1, isOne(rest[0], of: "the der die das le la les el") { rest.removeFirst() }
        return rest.enumerated().filter { index, word in
            index == 0 || index == rest.count - 1 || !isOne(word, of: "and und et y")
        }.map(\.element)
    }

    private static func found(_ place: Place, _ words: [Piece]) -> (relevance: Class, names: [Int])? {
        guard !words.isEmpty else { return nil }
        let classes = place.names.map { relevance(of: $0, in: place, words) }
        var all = classes.compactMap(\.self)
        if place.categories.contains(where: { isWhole($0, words) }) { all.append(.category) }
        if place.hasElsewhere(words) { all.append(.elsewhere) }
        guard let best = all.min(by: { $0.rawValue < $1.rawValue }) else { return nil }
        return (best, classes.indices.filter { classes[$0] == best })
    }

    /// The best class that a name has.
    private static func relevance(of name: Name, in place: Place, _ words: [Piece]) -> Class? {
        if isWhole(name.pieces, words) { return .name }
        if isBeginning(of: name.pieces, words) { return .beginning }
        let missing = name.missing(of: words)
        guard let firstMissing = missing.first else { return .words }
        // All before the first that is missing are the longest beginning.
        if firstMissing > 0, words[firstMissing...].allSatisfy({ place.hasElsewhere($0) }) {
            return .surroundings
        }
        guard missing.count == 1, !words[firstMissing].isRun else { return nil }
        let isFound = words[firstMissing].forms.contains { form in
            form.count >= 4 && name.forms.contains { differByOneError(form, $0) }
        }
        return isFound ? .error : nil
    }

    /// Whether the words are those of a name or of a category.
    private static func isWhole(_ pieces: [Piece], _ words: [Piece]) -> Bool {
        words.count == pieces.count && zip(words, pieces).allSatisfy { $0.isSame(as: $1) }
    }

    /// Whether the words but the last one are the first of a name, and the last one begins the next.
    private static func isBeginning(of pieces: [Piece], _ words: [Piece]) -> Bool {
        guard let last = words.last, words.count <= pieces.count else { return false }
        return zip(words.dropLast(), pieces).allSatisfy { $0.isSame(as: $1) }
            && pieces[words.count - 1].forms.contains(where: last.begins)
    }

    /// The first list item.
    private static func isBegunWithError(_ name: Name, _ words: [Piece]) -> Bool {
        guard let last = words.last, !last.isRun, name.missing(of: words) == [words.count - 1] else {
            return false
        }
        return last.forms.contains { form in
            form.count >= 5
                && name.forms.contains { other in
                    (form.count - 1...form.count + 1).contains { length in
                        length <= other.count
                            && differ(form, Array(other.prefix(length)), byErrorsBehindTheFirstLetter: 1)
                    }
                }
        }
    }

    /// The second list item.
    private static func hasTwoErrors(_ name: Name, _ words: [Piece]) -> Bool {
        let missing = name.missing(of: words)
        guard missing.count == 1, !words[missing[0]].isRun else { return false }
        return words[missing[0]].forms.contains { form in
            form.count >= 8 && name.forms.contains { differ(form, $0, byErrorsBehindTheFirstLetter: 2) }
        }
    }

    /// The third list item.
    private func foundWithoutOne(_ place: Place) -> Match? {
        guard (2...6).contains(words.count), words.count(where: \.isOneLetter) <= 1 else { return nil }
        var best: Match?
        for index in words.indices {
            var others = words
            others.remove(at: index)
            guard let (relevance, names) = Self.found(place, others), relevance != .error else { continue }
            if let points = best?.relevance?.points, points >= relevance.points { continue }
            best = Match(step: .leftOut, relevance: relevance, names: names, leftOut: index)
        }
        return best
    }

    /// Whether two words begin with the same letter, and behind that one of them is the other but for at most so many errors.
    private static func differ(
        _ one: Word, _ other: Word, byErrorsBehindTheFirstLetter count: Int
    ) -> Bool {
        guard let first = one.first, first == other.first, abs(one.count - other.count) <= count else {
            return false
        }
        return distance(Array(one.dropFirst()), Array(other.dropFirst())) <= count
    }

    /// The distance of optimal string alignment is 1.
    package static func differByOneError(_ one: Word, _ other: Word) -> Bool {
        abs(one.count - other.count) <= 1 && distance(one, other) == 1
    }

    /// The distance of optimal string alignment.
    private static func distance(_ one: Word, _ other: Word) -> Int {
        var distances = Array(repeating: Array(repeating: 0, count: other.count + 1), count: one.count + 1)
        for row in 0...one.count {
            for column in 0...other.count {
                if row == 0 || column == 0 {
                    distances[row][column] = row + column
                    continue
                }
                let isSame = one[row - 1] == other[column - 1]
                var least = min(
                    distances[row - 1][column] + 1, distances[row][column - 1] + 1,
                    distances[row - 1][column - 1] + (isSame ? 0 : 1))
                if row > 1, column > 1, one[row - 1] == other[column - 2], one[row - 2] == other[column - 1] {
                    least = min(least, distances[row - 2][column - 2] + 1)
                }
                distances[row][column] = least
            }
        }
        return distances[one.count][other.count]
    }
}

extension [Unicode.Scalar] {
    /// Whether it begins with a word. Without optimisation, looking at the first code point first takes a fraction.
    fileprivate func begins(with word: [Unicode.Scalar]) -> Bool {
        count >= word.count && first == word.first && starts(with: word)
    }
}

/// The rule of `sort=relevance` in `Documentation/api.md`, written down as it reads there, word by word and name by name, without
/// anything of the server's.
package struct ExpectedRelevance {
    package typealias Word = [Unicode.Scalar]

    /// The classes, from the best to the worst.
    package enum Class: Int {
        case name, beginning, words, surroundings, error
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

    /// A word of a text in both ways of writing it.
    fileprivate struct Piece: Sendable {
        let forms: [Word]
        let isRun: Bool

        init(_ characters: [FoldedCharacter]) {
            forms = [FoldedCharacter.plain(characters[...]), FoldedCharacter.spelledOut(characters[...])]
            isRun = characters[0].isOfRun
        }
    }

    /// A name as the rule sees it.
    fileprivate struct Name: Sendable {
        /// The words in their order.
        let pieces: [Piece]
        /// Words with an apostrophe, written as one: the number of the word that follows, and what they are.
        let joined: [(next: Int, piece: Piece)]

        init(_ name: String) {
            var pieces: [Piece] = []
            var joined: [(next: Int, piece: Piece)] = []
            for chunk in FoldedCharacter.characters(of: name).split(separator: .separator).map(Array.init) {
                pieces += NameWords.pieces(of: chunk).map(Piece.init)
                if chunk.contains(.apostrophe) {
                    joined += NameWords.pieces(of: chunk.filter { $0 != .apostrophe })
                        .map { (pieces.count, Piece($0)) }
                }
            }
            self.pieces = pieces
            self.joined = joined
        }

        var all: [Piece] { pieces + joined.map(\.piece) }
    }

    /// A place as the rule sees it.
    package struct Place: Sendable {
        fileprivate let names: [Name]
        fileprivate let surroundings: [NameWords]

        /// Reads a place's names, the first of several that it is found by first.
        package init(names: [String], address: String?, category: String) {
            self.names = names.map { Name($0) }
            surroundings = [address ?? "", category].map { NameWords($0) }
        }
    }

    /// Each word of the table beside the one on the other side.
    private static let pairs: [(Word, Word)] = abbreviations.flatMap { short, long in
        long.flatMap { long in
            let (short, long) = (Array(short.unicodeScalars), Array(long.unicodeScalars))
            return [(short, long), (long, short)]
        }
    }

    private let words: [Piece]
    /// For each of them the words of names that it finds by the table.
    private let otherSides: [[Word]]

    /// Reads a search text.
    package init(searchText: String) {
        words = NameWords.pieces(of: FoldedCharacter.characters(of: searchText)).prefix(50).map(Piece.init)
        otherSides = words.map { word in
            Self.pairs.filter { _, other in word.forms.contains { other.starts(with: $0) } }.map(\.0)
        }
    }

    /// The class of a place, and by which of its names it is found; nil where it isn't.
    package func found(_ place: Place) -> (relevance: Class, names: [Int])? {
        guard !words.isEmpty else { return nil }
        let classes = place.names.map { relevance(of: $0, place.surroundings) }
        guard let best = classes.compactMap(\.self).min(by: { $0.rawValue < $1.rawValue }) else { return nil }
        return (best, classes.indices.filter { classes[$0] == best })
    }

    private func relevance(of name: Name, _ surroundings: [NameWords]) -> Class? {
        let has = words.indices.map { self.has($0, name) }
        if has.allSatisfy(\.self) {
            if isBeginning(of: name, isWhole: true) { return .name }
            return isBeginning(of: name, isWhole: false) ? .beginning : .words
        }
        let run = has.prefix { $0 }.count
        if run > 0,
            words[run...].allSatisfy({ word in
                surroundings.contains { text in
                    text.words.contains { other in word.forms.contains { other.starts(with: $0) } }
                }
            })
        {
            return .surroundings
        }
        guard has.count(where: { !$0 }) == 1, let missing = has.firstIndex(of: false), !words[missing].isRun
        else { return nil }
        let isFound = words[missing].forms.contains { form in
            form.count >= 4
                && name.all.contains { !$0.isRun && $0.forms.contains { Self.differByOneError(form, $0) } }
        }
        return isFound ? .error : nil
    }

    /// Whether a name has a word of the text.
    private func has(_ index: Int, _ name: Name) -> Bool {
        let word = words[index]
        if word.isRun {
            return name.all.contains { piece in
                piece.isRun
                    && piece.forms[0].indices.contains {
                        piece.forms[0][$0...].starts(with: word.forms[0])
                    }
            }
        }
        let forms = name.all.flatMap(\.forms)
        return forms.contains { other in word.forms.contains { other.starts(with: $0) } }
            || otherSides[index].contains(where: forms.contains)
            || isWrittenTogether(index, in: forms) || word.forms.contains { isSeveralWords($0, of: name) }
    }

    /// Whether a word of a name begins with this word of the text and its neighbours, written together.
    private func isWrittenTogether(_ index: Int, in forms: [Word]) -> Bool {
        words.indices.contains { first in
            words.indices.contains { last in
                guard first <= index, index <= last, first < last, last - first < 5,
                    !words[first...last].contains(where: \.isRun)
                else { return false }
                return (0..<2).contains { form in
                    let text = words[first...last].flatMap { $0.forms[form] }
                    return forms.contains { $0.starts(with: text) }
                }
            }
        }
    }

    /// Whether two to five neighbouring words of a name, written together, begin with a text that goes beyond the others.
    private func isSeveralWords(_ text: Word, of name: Name) -> Bool {
        let starts =
            name.pieces.enumerated().map { (next: $0.offset + 1, piece: $0.element) } + name.joined
        return starts.contains { start in
            start.piece.forms.contains { form in
                form.count >= 2 && form.count < text.count && text.starts(with: form)
                    && isBeginning(text.dropFirst(form.count), ofWordsFrom: start.next, atMost: 4, of: name)
            }
        }
    }

    private func isBeginning(
        _ text: ArraySlice<Unicode.Scalar>, ofWordsFrom next: Int, atMost count: Int, of name: Name
    ) -> Bool {
        guard next < name.pieces.count, !name.pieces[next].isRun else { return false }
        return name.pieces[next].forms.contains { form in
            form.starts(with: text)
                || count > 1 && form.count >= 2 && text.starts(with: form)
                    && isBeginning(
                        text.dropFirst(form.count), ofWordsFrom: next + 1, atMost: count - 1, of: name)
        }
    }

    /// Whether a name is the text, or begins with it.
    private func isBeginning(of name: Name, isWhole: Bool) -> Bool {
        guard words.count <= name.pieces.count, !isWhole || words.count == name.pieces.count else {
            return false
        }
        return zip(words, name.pieces).enumerated().allSatisfy { index, pair in
            let (word, piece) = pair
            return piece.forms.contains { form in
                isWhole || index < words.count - 1
                    ? word.forms.contains(form) : word.forms.contains { form.starts(with: $0) }
            }
        }
    }

    /// The distance of optimal string alignment is 1.
    package static func differByOneError(_ one: Word, _ other: Word) -> Bool {
        guard abs(one.count - other.count) <= 1 else { return false }
        var rows = [Array(0...other.count)]
        for row in 1..<(one.count + 1) {
            var next = [row]
            for column in 1..<(other.count + 1) {
                let isSame = one[row - 1] == other[column - 1]
                var least = min(
                    rows[row - 1][column] + 1, next[column - 1] + 1,
                    rows[row - 1][column - 1] + (isSame ? 0 : 1))
                if row > 1, column > 1, one[row - 1] == other[column - 2], one[row - 2] == other[column - 1] {
                    least = min(least, rows[row - 2][column - 2] + 1)
                }
                next.append(least)
            }
            rows.append(next)
        }
        return rows[one.count][other.count] == 1
    }
}

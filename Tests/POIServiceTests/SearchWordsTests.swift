import BruteForce
import Randomness
import Testing

@testable import POIService

@Suite("The words that a search goes by")
struct SearchWordsTests {
    fileprivate struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let words: [String]
        var testDescription: String { name }
        init(_ name: String, _ words: String...) { (self.name, self.words) = (name, words) }
    }

    @Test(
        "A name is folded and split into words at every character that is no letter or digit",
        arguments: [
            Case("Café Stritch", "cafe", "stritch"), Case("Cafe\u{301}", "cafe"),
            Case("Children's Museum", "children", "s", "museum", "childrens"),
            Case("Musée d’Orsay", "musee", "d", "orsay", "dorsay"),
            Case("Hawaiʼi", "hawai", "i", "hawaii"),
            Case("STRASSE Straße ẞ", "strasse", "ss"),
            Case("Ærø Œuvre Þór Łódź Đà Ħal ıI", "aero", "oeuvre", "thor", "lodz", "da", "hal", "ii"),
            Case("ΟΔΟΣ Οδός", "οδοσ"), Case("Ёлка", "елка"), Case("İstanbul", "istanbul"),
            Case("A&B/C-D.E_F,7", "a", "b", "c", "d", "e", "f", "7"),
            Case("ﬁne Ｆｕｌｌ－ｗｉｄｔｈ ½ ²", "fine", "full", "width", "1", "2"),
            Case("a\u{A0}b\u{2003}c\u{3000}d「e」々〇", "a", "b", "c", "d", "e", "々〇"),
            Case("1ª 2º µ", "1a", "2o", "μ"), Case("東京タワー", "東京タワー"),
            Case("ガ", "カ"), Case("각", "\u{1100}\u{1161}\u{11A8}"), Case("— ’ ·", ""),
        ])
    fileprivate func words(of example: Case) {
        #expect(SearchWords.words(ofName: example.name) == example.words.filter { !$0.isEmpty })
        var folder = NameFolder()
        #expect(Self.words(ofName: example.name, by: &folder) == example.words.filter { !$0.isEmpty })
    }

    /// The words that a folder finds, each once.
    private static func words(ofName name: String, by folder: inout NameFolder) -> [String] {
        Array(name.utf8).withUnsafeBufferPointer { folder.fold($0) }
        var words: [String] = []
        for word in folder.words.split(separator: UInt8(ascii: " ")) {
            let word = String(decoding: word, as: UTF8.self)
            if !words.contains(word) { words.append(word) }
        }
        return words
    }

    @Test("A folder that is used for many names finds the same words as for each name alone")
    func manyNames() {
        var generator = SeededGenerator()
        // Marks that stay, and whose order follows from their classes, are among the last ones.
        let characters =
            ["a", "B", "é", "ガ", "각", " ", "'", "\u{2019}", "\u{149}", "½", "\u{301}", "\u{327}"]
            + ["\u{302E}", "\u{302F}", "\u{16FF0}", "\u{1D165}", "\u{1D16D}"]
        var folder = NameFolder()
        for _ in 0..<2000 {
            let name = (0..<Int.random(in: 0...8, using: &generator)).map { _ in
                characters[Int.random(in: characters.indices, using: &generator)]
            }.joined()
            let note = "\(name.unicodeScalars.map(\.value)) POI_TEST_SEED=\(generator.seed)"
            #expect(Self.words(ofName: name, by: &folder) == SearchWords.words(ofName: name), "\(note)")
        }
    }

    @Test("A matcher that is used for many names matches the same ones as for each name alone")
    func manyMatches() {
        var generator = SeededGenerator()
        let pieces = ["a", "an", "café", "CAFE", "d’", "'", " ", " ", "-", "é", "ガ", "ab"]
        func text(_ lengths: ClosedRange<Int>) -> String {
            (0..<Int.random(in: lengths, using: &generator)).map { _ in
                pieces[Int.random(in: pieces.indices, using: &generator)]
            }.joined()
        }
        var counts = [false: 0, true: 0]
        for _ in 0..<200 {
            let searchText = text(0...3)
            var matcher = NameMatcher(searchText: searchText)
            for _ in 0..<20 {
                let name = text(0...7)
                let isMatch = SearchWords.matches(
                    nameWords: SearchWords.words(ofName: name),
                    queryWords: SearchWords.words(ofQuery: searchText))
                let found = Array(name.utf8).withUnsafeBufferPointer { matcher.matches($0) }
                #expect(found == isMatch, "\(searchText) in \(name); POI_TEST_SEED=\(generator.seed)")
                counts[isMatch, default: 0] += 1
            }
        }
        #expect(counts.values.allSatisfy { $0 > 100 }, "\(counts)")
    }

    @Test("A search text is cut at apostrophes only, and each of its words has to begin one of the name's")
    func matches() {
        func matches(_ text: String, _ name: String) -> Bool {
            SearchWords.matches(
                nameWords: SearchWords.words(ofName: name), queryWords: SearchWords.words(ofQuery: text))
        }
        #expect(SearchWords.words(ofQuery: "Children's children") == ["children", "s"])
        #expect(matches("cafe", "Café Stritch"))
        #expect(matches("STRI caf", "Café Stritch"))
        #expect(matches("childrens", "Children's Museum"))
        #expect(matches("children's", "Children's Museum"))
        #expect(matches("orsay", "Musée d’Orsay"))
        #expect(matches("dorsay", "Musée d’Orsay"))
        #expect(!matches("afe", "Café Stritch"))
        #expect(!matches("cafe x", "Café Stritch"))
        #expect(!matches("cafes", "Café Stritch"))
        // Begins with the same code points, though no character is the same.
        #expect(matches("가", "각"))
    }

    @Test("A search text without a word matches nothing", arguments: ["", " ", "'", "…", "\u{301}", "&-"])
    func wordless(text: String) {
        #expect(SearchWords.words(ofQuery: text).isEmpty)
        #expect(!SearchWords.matches(nameWords: ["a"], queryWords: SearchWords.words(ofQuery: text)))
    }
}

import Geodesy
import PointsOfInterestServerAPI
import BruteForce
import Places
import PointsOfInterestAPI
import Randomness
import SpatialIndex
import Testing

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
            Case("Œuvre Þór Łódź Đà Ħal ıI", "oeuvre", "thor", "lodz", "da", "hal", "ii"),
            Case("ΟΔΟΣ Οδός", "οδοσ"), Case("Ёлка", "елка"), Case("İstanbul", "istanbul"),
            Case("A&B/C-D:E_F,7", "a", "b", "c", "d", "e", "f", "7"),
            Case("ﬁne Ｆｕｌｌ－ｗｉｄｔｈ ½ ²", "fine", "full", "width", "1", "2"),
            Case("a\u{A0}b\u{2003}c\u{3000}d「e」々〇", "a", "b", "c", "d", "e", "々〇", "〇"),
            Case("1ª 2º µ", "1a", "2o", "μ"), Case("각", "\u{1100}\u{1161}\u{11A8}"), Case("— ’ ·", ""),
        ]
            + [
                Case("Müller MÖ", "muller", "mueller", "mo", "moe"),
                Case("Mu\u{308}ller", "muller", "mueller"),
                Case("Ålesund \u{212B}", "alesund", "aalesund", "a", "aa"),
                Case("Køge Ærø", "koge", "koege", "aero", "aeroe"),
                Case("Ëéñ ẅ æ\u{308}", "een", "w", "ae"), Case("ö’ä", "o", "oe", "a", "ae", "oa", "oeae"),
                // Marks beside it don't matter, nor in which order they come.
                Case("ǖ ǻ Ǿ", "u", "ue", "a", "aa", "o", "oe"),
                Case("u\u{323}\u{308} u\u{308}\u{323}", "u", "ue"),
                Case("ụ\u{308}", "u", "ue"), Case("a\u{344}", "a", "ae"),
                Case("å\u{308} ä\u{30A}", "a", "aa", "ae"),
                Case("a\u{302E}\u{308}", "a\u{302E}"), Case("\u{308}a", "a"),
                Case("東京Tower", "東京", "京", "tower"), Case("Bar東’京", "bar", "東", "京", "東京"),
                Case("ガス", "かす", "す"), Case("ﾀﾜｰ", "たわー", "わー", "ー"), Case("パン・ヤ", "はん", "ん", "や"),
                Case("U.S. Bank J.R.R.Ö.", "u", "s", "us", "bank", "j", "r", "o", "oe", "jrro", "jrroe"),
                Case("St. A.B1 A..B .C. D.", "st", "a", "b1", "b", "c", "d"),
                Case("ʻOkina ‘O׳a צה״ל", "okina", "o", "a", "oa", "צה", "ל"),
                Case("تل־أبيب كـتاب", "تل", "ابيب", "كتاب"), Case("٣ ३ 𝟛", "3"),
                Case("☕ C€D ←E", "c", "d", "e"), Case("soft\u{AD}hyphen", "soft", "hyphen"),
                Case("วัด", "วด", "ด"), Case("ភ្នំ", "ភន", "ន"), Case("កា", "កា", "ា"),
                Case("ໂຮງ", "ໂຮງ", "ຮງ", "ງ"),
                Case("㏠ö㈱", "1", "日", "o", "oe", "株"), Case("人々1々", "人々", "々", "1"),
            ])
    fileprivate func words(of example: Case) {
        let expected = Set(example.words.filter { !$0.isEmpty }.map { Array($0.unicodeScalars) })
        #expect(NameWords(example.name).words == expected)
        var folder = NameFolder()
        #expect(Self.words(ofName: example.name, by: &folder) == expected)
    }

    /// The words that a folder finds, and those that begin within its runs.
    private static func words(ofName name: String, by folder: inout NameFolder) -> Set<[Unicode.Scalar]> {
        let name = Array(name.utf8)
        folder.fold(name.span)
        return Set(
            folder.words.split { $0 <= FoldedMark.space }.flatMap { word in
                let scalars = Array(String(decoding: word, as: UTF8.self).unicodeScalars)
                return SearchWords.isRun(word.span)
                    ? scalars.indices.map { Array(scalars[$0...]) } : [scalars]
            })
    }

    @Test("A folder that is used for many names finds the same words as for each name alone")
    func manyNames() {
        var generator = SeededGenerator()
        // Marks that stay, and whose order follows from their classes, are among the last ones.
        let characters =
            [
                "a", "B", "é", ".", ".", "ガ", "각", " ", "'", "\u{2019}", "\u{149}", "½", "\u{301}", "\u{327}",
                "東", "㋿",
                "㏠",
            ]
            + ["ö", "Å", "\u{308}", "\u{30A}", "\u{344}", "ø", "ạ", "เ", "ា"]
            + ["\u{302E}", "\u{302F}", "\u{16FF0}", "\u{1D165}", "\u{1D16D}"]
        var folder = NameFolder()
        for _ in 0..<2000 {
            let name = (0..<Int.random(in: 0...8, using: &generator)).map { _ in
                characters[Int.random(in: characters.indices, using: &generator)]
            }.joined()
            let note = "\(name.unicodeScalars.map(\.value)) POI_TEST_SEED=\(generator.seed)"
            #expect(Self.words(ofName: name, by: &folder) == NameWords(name).words, "\(note)")
        }
    }

    @Test("A search text is cut at apostrophes only, and each of its words has to begin one of the name's")
    func matches() {
        func matches(_ text: String, _ name: String) -> Bool {
            let isMatch = SearchWords.words(ofQuery: text).areAll(in: name)
            #expect(NameWords(name).match(text) == isMatch)
            return isMatch
        }
        #expect(
            SearchWords.words(ofQuery: "Children's children")
                == ["children", "s"].map { .word(Array($0.utf8)) })
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
        // As a letter is written, or as it is spelled out.
        #expect(
            matches("Müller", "Mueller") && matches("Müller", "Muller") && matches("Müller", "Mu\u{308}ller"))
        #expect(matches("mueller", "Müller") && matches("muller", "MÜLLER") && matches("mü", "Muenster"))
        #expect(!matches("muller", "Mueller") && !matches("mueller", "Muller") && !matches("øæ", "Oeuvre"))
        #expect(matches("kø", "Kobe") && matches("aa", "Å") && !matches("aalesun", "Alesund"))
        // From any character of a run on, and not beyond its end.
        #expect(matches("京", "東京タワー") && matches("京タワ", "東京タワー") && matches("タワー", "東京タワー"))
        #expect(!matches("東京ワー", "東京タワー") && !matches("京都", "東京 都") && !matches("ははひ", "はは ばひ"))
        #expect(matches("東京to", "東京Tower") && matches("東京tower", "東京Tower") && matches("tow京", "東京Tower"))
        #expect(matches("พระ", "วัดพระแก้ว") && matches("แก้ว", "วัดพระแก้ว") && !matches("แพ", "วัดพระแก้ว"))
    }

    @Test(
        "A search text without a word matches nothing",
        arguments: ["", " ", "'", "…", "\u{301}", "&-", "・", "☕", "ـ"])
    func wordless(text: String) {
        #expect(SearchWords.words(ofQuery: text).isEmpty)
        #expect(!NameWords("a").match(text))
    }
}

extension [QueryWord] {
    /// Whether each of them begins a word of a name.
    fileprivate func areAll(in name: String) -> Bool {
        var matcher = WordMatcher(self)
        let name = [UInt8](name.utf8)
        return !isEmpty && matcher.mask(of: name.span).nonzeroBitCount == count
    }
}

/// Searches in names, in an index and by the rule as the contract's page has it.
@Suite("Names that searches find", .timeLimit(.minutes(5)))
struct NameSearchTests {
    private static let pieces = [
        "a", "an", "café", "CAFE", "d’", "'", " ", " ", " ", "-", "é", "각", "7", "Mu", "mü", "MUE",
        "u\u{308}", "ö", "oe",
        "Ø", "Å", "aa", "\"", "\\", "ba", "東", "京", "都", "東京", "タ", "ー", "ダ", "は", "ば", "・", "々", "ก", "เ",
        "น", "กา",
        "ក", "ា", "㍿",
        "\u{302E}", "\u{2000B}",
    ]

    private static func name(_ lengths: ClosedRange<Int>, _ generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: lengths, using: &generator)).map { _ in
            pieces[Int.random(in: pieces.indices, using: &generator)]
        }.joined()
    }

    /// Pieces, or a part of a name, maybe in capital letters, or with letters spelled out or plain.
    private static func searchText(of names: [String], _ generator: inout SeededGenerator) -> String {
        guard Int.random(in: 0..<3, using: &generator) > 0 else { return name(0...3, &generator) }
        let name = Array(names[Int.random(in: names.indices, using: &generator)].unicodeScalars)
        let start = Int.random(in: 0...name.count, using: &generator)
        var view = String.UnicodeScalarView()
        view.append(contentsOf: name[start..<Int.random(in: start...name.count, using: &generator)])
        let text = String(view)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: return text.uppercased()
        case 1: return text.replacing("ü", with: "ue").replacing("ö", with: "oe").replacing("Å", with: "AA")
        case 2: return text.replacing("ü", with: "u").replacing("ö", with: "o").replacing("Ø", with: "O")
        default: return text
        }
    }

    /// A place with the first name and any of the others in languages.
    private static func place(
        _ id: Int, called names: [String], _ generator: inout SeededGenerator
    ) -> StoredPlace {
        let place = PointOfInterest(
            id: id, name: names[0], category: "cafe", latitude: Double(id % 170) - 85,
            longitude: Double(id % 360) - 180, featured: false)
        let inLanguages = Int.random(in: 0..<names.count, using: &generator)
        let tags = ["de", "DE-at", "en", "zh-Hant"]
        return StoredPlace(
            place, names: Dictionary(uniqueKeysWithValues: zip(tags, names[1...].prefix(inLanguages))),
            otherNames: Array(names.dropFirst(1 + min(inLanguages, tags.count))))
    }

    /// A snapshot of some parts, of which the small ones are merged; ids are the places' indices.
    private static func snapshot(
        ofPlacesCalled names: [[String]], _ generator: inout SeededGenerator
    ) -> IndexSnapshot {
        let version = IndexVersion(revision: 1, datasetIDHigh: 1, datasetIDLow: 1)
        var snapshot = IndexSnapshot(part: IndexPartBuilder(expecting: 0).build(), version: version)
        var next = 0
        while next < names.count {
            var builder = IndexPartBuilder(expecting: 0, vocabulary: snapshot.vocabulary)
            let end = min(names.count, next + 350)
            for id in next..<end {
                let isAdded = builder.add(place(id, called: names[id], &generator).fields)
                #expect(isAdded)
            }
            snapshot = snapshot.applying(removedIDs: [], added: builder.build(), version: version)
            next = end
        }
        return snapshot
    }

    @Test(
        "A matcher and an index find the places that the rule of the contract's page finds by one of their names",
        arguments: 0..<10)
    func sameNames(round: Int) throws {
        var generator = SeededGenerator()
        let names = (0..<1000).map { _ in
            (0...[0, 0, 1, 6][Int.random(in: 0..<4, using: &generator)]).map { _ in
                Self.name(1...7, &generator)
            }
        }
        let words = names.map { names in names.map { NameWords($0) } }
        let all = names.flatMap(\.self)
        let snapshot = Self.snapshot(ofPlacesCalled: names, &generator)
        let center = try Coordinate(latitude: 0, longitude: 0)
        let earth = try #require(BoundingBox(west: -180, south: -90, east: 180, north: 90))
        var matchCount = 0
        for _ in 0..<40 {
            let text = Self.searchText(of: all, &generator)
            let note = "\(text) POI_TEST_SEED=\(generator.seed)"
            let searched = NameWords.SearchText(text)
            let expected = names.indices.filter { words[$0].contains(where: searched.finds) }
            matchCount += expected.count
            let queryWords = SearchWords.words(ofQuery: text)
            let matching = names.indices.filter { names[$0].contains(where: queryWords.areAll) }
            #expect(matching == expected, "\(note)")
            var query = IndexQuery(
                ranking: Ranking(center: center, radiusMeters: nil, limit: names.count + 1))
            query.filter.words = SearchWords.words(ofQuery: text)
            let found = try #require(snapshot.search(query)).placed.map { Int($0.id) }
            #expect(found.sorted() == expected, "\(note)")
            let cells = ClusterCells(ClustersRequest(box: earth, zoom: 2))
            let clusters = try #require(snapshot.clusters(in: cells, query.filter))
            #expect(clusters.reduce(0) { $0 + $1.sum.count } == expected.count, "\(note)")
        }
        #expect(matchCount > 400)
    }
}

import BruteForce
import DifficultPlaces
import Foundation
import Loopback
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Randomness
import SpatialIndex
import Testing

@testable import Places

/// How many questions each test asks; `scripts/soak` asks many more.
private let questionCount =
    ProcessInfo.processInfo.environment["POI_TEST_QUESTIONS"].flatMap { Int($0) } ?? 150

/// Compares searches by relevance with the rule applied to every place.
@Suite("Search by relevance", .timeLimit(.minutes(30)))
struct RelevanceTests {
    @Test("Pages of all groups are those of applying the rule to every place")
    func exact() async throws {
        try await onLoop { loop in
            var generator = SeededGenerator()
            var questions = RelevanceQuestions(using: &generator)
            let labels = RelevanceQuestions.labels
            let truth = FixtureStore(
                stored: questions.places, vocabulary: RelevanceQuestions.vocabulary, labels: labels)
            let index = try #require(
                ServedIndex(
                    questions.places.map(\.fields), categories: RelevanceQuestions.vocabulary.categories,
                    labels: CategoryLabels(labels)))
            let store = IndexedPlaceStore(
                index, requestTimeout: .seconds(3600), loop: loop)
            var groups: [RelevanceGroup: Int] = [:]
            var count = 0
            // Some more where pages have ended in few places of a group: with an error, they seldom do.
            while count < questionCount
                || count < 4 * questionCount
                    && RelevanceGroup.allCases.contains(where: { groups[$0, default: 0] <= 5 })
            {
                count += 1
                var request = questions.next()
                let note =
                    "POI_TEST_SEED=\(generator.seed) \(request.encodedQuery.removingPercentEncoding ?? "")"
                while true {
                    let expected = try await truth.places(for: request)
                    let expectedPlaces = try expected.places.copied()
                    let found = try await store.places(for: request)
                    let later = try await store.searchedByRelevance(request, from: .unknown)
                    for page in [found, later] {
                        let places = try page.places.copied(languages: request.languages)
                        let isExact = places == expectedPlaces && page.end == expected.end
                        try #require(isExact, "\(places) is not \(expectedPlaces); \(note)")
                    }
                    guard let end = later.end else { break }
                    groups[try #require(end.rank).group, default: 0] += 1
                    request.cursor = PageCursor(end, in: request)
                }
            }
            for group in RelevanceGroup.allCases { #expect(groups[group, default: 0] > 5, "\(group)") }
            await store.close()
        }
    }

    @Test("Places in several parts, changed and merged, are found as in one")
    func parts() throws {
        var generator = SeededGenerator()
        var questions = RelevanceQuestions(using: &generator)
        var snapshot = IndexSnapshot(
            part: try .packing(Array(questions.places.prefix(130)), IndexVocabulary()), version: version(1))
        for (revision, added) in questions.places.dropFirst(130).chunked(by: 7).enumerated() {
            // Some that were added before come again.
            let again = questions.places.prefix(130).filter { $0.place.id % 41 == revision }
            snapshot = snapshot.applying(
                removedIDs: [], added: try .packing(again + added, snapshot.vocabulary),
                version: version(Int64(revision) + 2))
        }
        #expect(snapshot.partCount > 1)
        let whole = IndexSnapshot(
            part: try .packing(questions.places, IndexVocabulary()), version: version(1))
        for _ in 0..<questionCount {
            let request = questions.next()
            func search(_ snapshot: IndexSnapshot) throws -> [[Int]] {
                let page = try #require(snapshot.search(RelevanceQuery(request, snapshot.vocabulary)))
                return page.found.map {
                    [Int($0.placed.id), $0.relevance.rawValue, $0.leftOut ?? -1] + $0.names
                }
            }
            #expect(try search(snapshot) == search(whole), "POI_TEST_SEED=\(generator.seed) \(request)")
        }
    }

    @Test("Where few names begin with the text, only the most important of the others are looked at")
    func importantOnes() throws {
        var generator = SeededGenerator()
        // Fewer have the last word, and the name that begins with the text comes last of these.
        let others = (1...3000).map { id in
            StoredPlace(
                PointOfInterest(
                    id: id, name: id == 1 ? "Bo" : "Bo\(id) Ka\(id)", category: "park",
                    latitude: .random(in: -60...60, using: &generator),
                    longitude: .random(in: -180...180, using: &generator),
                    importance: .random(in: 1...1000, using: &generator)))
        }
        let beginning = StoredPlace(
            PointOfInterest(
                id: 4000, name: "B Kz", category: "park", latitude: 0, longitude: 0, importance: 0))
        let snapshot = IndexSnapshot(
            part: try .packing(others + [beginning], IndexVocabulary()), version: version(1))
        var request = NearbyPlacesRequest(center: Coordinate.random(0, 0), limit: 20)
        (request.sort, request.searchText) = (.relevance, "b k")
        let query = RelevanceQuery(request, snapshot.vocabulary)
        // More than twice the work would be needed to look at all.
        let page = try #require(snapshot.searchAtOnce(query), "POI_TEST_SEED=\(generator.seed)")
        let whole = try #require(snapshot.search(query))
        #expect(page.found == whole.found)
        #expect(page.found.count == 20)
    }

    @Test("A place whose names are in several classes is found once, by the best")
    func once() throws {
        func place(_ id: Int, _ name: String, address: String? = nil, others: [String] = []) -> StoredPlace {
            StoredPlace(
                PointOfInterest(
                    id: id, name: name, category: "park", latitude: 0, longitude: 0, address: address,
                    importance: 100 - id),
                otherNames: others)
        }
        // The first word is the one that most places have.
        let places =
            [place(1, "Saint", address: "Mount Berlin", others: ["Saimt Mount Berlin"])]
            + [place(2, "Saint", address: "Mount Berlin"), place(3, "Saimt Mount Berlin")]
            + (4...9).map { place($0, "Saint") }
        let snapshot = IndexSnapshot(part: try .packing(places, IndexVocabulary()), version: version(1))
        var request = NearbyPlacesRequest(center: nil, limit: 100)
        (request.sort, request.searchText) = (.relevance, "saint mount berlin")
        let page = try #require(snapshot.search(RelevanceQuery(request, snapshot.vocabulary)))
        #expect(page.found.map { Int($0.placed.id) } == [1, 2, 3])
        #expect(page.found.map(\.relevance) == [.surroundings, .surroundings, .error])
    }

    @Test(
        "As many categories as there may be are added in no time, and each is found",
        .timeLimit(.minutes(1)))
    func manyCategories() throws {
        var vocabulary = IndexVocabulary()
        for number in 0..<65_536 { try #require(vocabulary.number(adding: "kind_\(number)") != nil) }
        #expect(vocabulary.number(adding: "another") == nil)
        let place = StoredPlace(
            PointOfInterest(id: 1, name: "A", category: "kind_4711", latitude: 0, longitude: 0))
        let snapshot = IndexSnapshot(part: try .packing([place], vocabulary), version: version(1))
        var request = NearbyPlacesRequest(center: nil, limit: 1)
        (request.sort, request.searchText) = (.relevance, "kind 4711")
        let page = try #require(snapshot.search(RelevanceQuery(request, snapshot.vocabulary)))
        #expect(page.found.map(\.relevance) == [.category])
    }

    @Test("Both sides have the same abbreviations")
    func abbreviations() {
        let expected = ExpectedRelevance.abbreviations.flatMap { short, long in long.map { [short, $0] } }
        let table = Abbreviations.table.map { [$0.short, $0.long] }
        #expect(Set(expected) == Set(table))
        #expect(expected.count == table.count)
        // Words as folding makes them.
        for word in table.joined() {
            #expect(SearchWords.words(ofQuery: word) == [.word(Array(word.utf8))])
        }
    }

    private func version(_ revision: Int64) -> IndexVersion {
        IndexVersion(revision: revision, datasetIDHigh: 1, datasetIDLow: 2)
    }

    @Test(
        "One error is a letter that is inserted, left out, another one or swapped with its neighbour",
        arguments: [
            ("berlin", "berlin", false), ("berlin", "brlin", true), ("berlin", "berrlin", true),
            ("berlin", "berlim", true), ("berlin", "eberlin", true), ("berlin", "ebrlin", true),
            ("berlin", "berln", true), ("berlin", "brelni", false), ("berlin", "bernil", false),
            ("aaaa", "aaa", true), ("abab", "baba", false), ("москва", "мосвка", true),
            ("москва", "масква", true), ("москва", "мосва", true), ("москва", "масква\u{301}x", false),
            ("żółw", "żółv", true), ("ab", "ba", true), ("a", "", true), ("", "", false),
        ])
    func errors(one: String, other: String, isOne: Bool) {
        for (one, other) in [(one, other), (other, one)] {
            let (oneBytes, otherBytes) = (Array(one.utf8), Array(other.utf8))
            let found = SearchError.isOne(between: oneBytes.span, and: otherBytes.span)
            #expect(found == isOne)
            #expect(
                ExpectedRelevance.differByOneError(Array(one.unicodeScalars), Array(other.unicodeScalars))
                    == isOne)
        }
    }
}

extension IndexPart {
    fileprivate static func packing(_ places: [StoredPlace], _ vocabulary: IndexVocabulary) throws
        -> IndexPart
    {
        var builder = IndexPartBuilder(expecting: places.count, vocabulary: vocabulary)
        for place in places {
            let isAdded = builder.add(place.fields)
            try #require(isAdded)
        }
        return builder.build()
    }
}

extension ArraySlice {
    fileprivate func chunked(by count: Int) -> [ArraySlice<Element>] {
        stride(from: startIndex, to: endIndex, by: count).map { self[$0..<Swift.min($0 + count, endIndex)] }
    }
}

/// Random places whose names have much in common, and questions about them.
private struct RelevanceQuestions {
    static let vocabulary = FilterVocabulary(categories: ["coffee_shop", "park", "saint"], datasets: [])

    static let labels = [
        "coffee_shop": [
            "en": ["Coffee shop", "café"], "de": ["Café", "Kaffeehaus"], "ja": ["喫茶店", "カフェ"],
        ],
        "park": ["de": ["Grünanlage", "New York"], "fr": ["l'Espace vert"]],
    ]

    let places: [StoredPlace]
    private var generator: SeededGenerator
    private var askedCount = 0

    init(using generator: inout SeededGenerator) {
        var own = generator
        places = (1...160).map { Self.place($0, using: &own) }
        self.generator = own
    }

    private static let words = [
        "Saint", "St", "St.", "Street", "Strasse", "Straße", "Sankt", "Mount", "Mt", "Hong", "Kong",
        "Hongkong",
        "Berlin", "Berlim", "Bern", "Berne", "Müller", "Mueller", "Muller", "Ålesund", "O’Hare", "d'Orsay",
        "d’Örs", "Dorsay", "Park", "Parks", "New", "York", "Yorker", "Newyork", "東京", "東京都", "京都", "京", "東",
        "Bar東’京", "Москва", "Масква", "San", "José", "Jose", "Sanjose", "A", "AB", "ABC", "ä東", "Walla",
        "7th", "7", "Marienplatz", "Marienplätze", "Mariensplatz", "The", "La", "and", "y", "me", "nearby",
        "U.S.", "d",
    ]

    private static func name(using generator: inout SeededGenerator) -> String {
        let words = (0..<[1, 1, 2, 2, 3].pick(using: &generator)).map { _ in
            Self.words.pick(using: &generator)
        }
        return words.joined(separator: [" ", " ", " ", "-", "  "].pick(using: &generator))
    }

    private static func place(_ id: Int, using generator: inout SeededGenerator) -> StoredPlace {
        let place = PointOfInterest(
            id: id, name: name(using: &generator),
            category: vocabulary.categories.sortedNames.pick(using: &generator),
            // Few positions, so that many places are equally far.
            latitude: [0, 0, 0.001, 50, 89].pick(using: &generator),
            longitude: [0, 0, 0.001, 120, -120].pick(using: &generator),
            featured: id % 5 == 0,
            address: Bool.random(using: &generator)
                ? "\"\(name(using: &generator))\" 1, \(name(using: &generator))" : nil,
            importance: [0, 0, 1, 500, 1000].pick(using: &generator),
            properties: id % 6 == 0 ? ["a": .integer(id)] : nil,
            operatingStatus: [nil, nil, nil, nil, .temporarilyClosed, .permanentlyClosed].pick(
                using: &generator))
        let tags = ["ja", "zh-Hant", "EN-us"].filter { _ in Int.random(in: 0..<4, using: &generator) == 0 }
        var names: [String: String] = [:]
        for tag in tags { names[tag] = name(using: &generator) }
        let others = (0..<[0, 0, 0, 1, 3].pick(using: &generator)).map { _ in name(using: &generator) }
        return StoredPlace(place, names: names, otherNames: others.filter { $0 != place.name })
    }

    mutating func next() -> NearbyPlacesRequest {
        var request = NearbyPlacesRequest(
            center: [nil, .random(0, 0), .random(0, 0.0005), .random(-50, -60)].pick(using: &generator),
            limit: [1, 3, 10, 100].pick(using: &generator))
        request.sort = PlaceSort.relevance
        request.searchText = text()
        // A name alone is rare among random texts: the first questions are names.
        if askedCount < 30 { (request.searchText, request.limit) = (places[askedCount].place.name, 1) }
        askedCount += 1
        if request.center != nil {
            request.radiusMeters = [nil, nil, 1, 200, 5_000_000, 20_000_000].pick(using: &generator)
        }
        if request.radiusMeters == nil {
            request.box = [nil, nil, BoundingBox(west: 100, south: -10, east: 10, north: 60)].pick(
                using: &generator)
        }
        request.categories = [[], [], [], ["park", "saint"]].pick(using: &generator)
        request.featured = [nil, nil, nil, true, false].pick(using: &generator)
        if request.center != nil { request.nearMeters = [nil, nil, 0, 1, 200, 2e7].pick(using: &generator) }
        request.languages = [[], [], ["ja"], ["en-us", "zh-hant-tw"]].pick(using: &generator)
        request.properties = [[], [], ["a"]].pick(using: &generator)
        return request
    }

    private mutating func withError(_ text: String) -> String {
        var characters = Array(text)
        guard let index = characters.indices.randomElement(using: &generator) else { return text }
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: characters.remove(at: index)
        case 1: characters.insert("e", at: index)
        case 2: characters[index] = "o"
        default: characters.swapAt(index, max(0, index - 1))
        }
        return String(characters)
    }

    /// Words of a name, mostly with something left out, added or wrong.
    private mutating func text() -> String {
        if Int.random(in: 0..<40, using: &generator) == 0 { return "…" }
        var text = Self.name(using: &generator)
        if Int.random(in: 0..<3, using: &generator) == 0 { text += " " + Self.name(using: &generator) }
        switch Int.random(in: 0..<15, using: &generator) {
        case 0: text = String(text.prefix(max(1, text.count - Int.random(in: 1...3, using: &generator))))
        case 1: text = text.replacingOccurrences(of: " ", with: "")
        case 2, 3: text = withError(text)
        case 4: text = text.lowercased()
        case 5: text += [" coffee", " kaff", "喫茶", " vert"].pick(using: &generator)
        case 12:
            text = ["grünanlage", "gruenan", "cafe", "new york", "茶店", "l'espace vert", "the coffee shop"]
                .pick(using: &generator)
        case 6: text = "\([text, "Marienplatz"].pick(using: &generator)) zz½"
        case 7, 8: text = withError(withError([text, "marienplatz"].pick(using: &generator)))
        case 10: text = "\(["the", "la", ""].pick(using: &generator)) \(text)"
        case 11: text += " \(["near me", "in der Nähe", "cerca", "and a", "y"].pick(using: &generator))"
        case 9, 13:
            let word = [text, "marienplatz", "marienplatz"].pick(using: &generator)
            text = String(withError(word).dropLast(Int.random(in: 1...4, using: &generator)))
        default: break
        }
        return text.isEmpty ? "a" : String(text.unicodeScalars.prefix(100))
    }
}

extension Coordinate {
    fileprivate static func random(_ latitude: Double, _ longitude: Double) -> Coordinate? {
        try? Coordinate(latitude: latitude, longitude: longitude)
    }
}

import Testing

@testable import PointsOfInterestServerAPI

@Suite("The nearest name")
struct NearestNameTests {
    private static let vocabulary = NameVocabulary([
        "arts_centre", "bakery", "bank", "bar", "cafe", "cinema", "library", "museum", "restaurant", "Ünique",
    ])

    @Test(
        "The nearest name is found for a typing error, a longer or a shorter form",
        arguments: [
            ("cafes", "cafe"), ("caffe", "cafe"), ("CAFE", "cafe"), ("museums", "museum"),
            ("musuem", "museum"),
            ("resturant", "restaurant"), ("rest", "restaurant"), ("ba", "bar"), ("libary", "library"),
            ("arts_center", "arts_centre"), ("ünique", "Ünique"),
        ])
    func isFound(mistaken: String, known: String) {
        #expect(Self.vocabulary.nearest(to: mistaken) == known)
    }

    @Test(
        "No name is suggested if none is near",
        arguments: ["", "x", "coffee", "pharmacy", "m", "tank you", "🏛", "r e s t"])
    func isNone(mistaken: String) {
        #expect(Self.vocabulary.nearest(to: mistaken) == nil)
    }

    @Test("No name is suggested for a text that is longer than any name")
    func ignoresLongTexts() {
        #expect(Self.vocabulary.nearest(to: "cafe" + String(repeating: "e", count: 61)) == nil)
        #expect(Self.vocabulary.nearest(to: "cafe" + String(repeating: "e", count: 60)) == "cafe")
    }

    @Test("No name is suggested if there are no names")
    func isNoneAmongNone() {
        #expect(NameVocabulary([]).nearest(to: "cafe") == nil)
        #expect(NearestName.find(for: "cafe", among: [""]) == nil)
    }
}

@Suite("A category vocabulary")
struct NameVocabularyTests {
    @Test("A vocabulary has each name once, in alphabetical order, and knows no other")
    func holdsItsNames() {
        let vocabulary = NameVocabulary(["museum", "cafe", "museum", "bar"])
        #expect(vocabulary.sortedNames == ["bar", "cafe", "museum"])
        #expect(vocabulary.contains("cafe"))
        #expect(!vocabulary.contains("Cafe"))
        #expect(!vocabulary.contains(""))
        #expect(vocabulary == NameVocabulary(["bar", "museum", "cafe"]))
    }
}

import Randomness
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

@Suite("An edit distance")
struct EditDistanceTests {
    @Test(
        "The distance counts insertions, deletions and replacements",
        arguments: [
            ("kitten", "sitting", 3), ("a", "", 1), ("a", "a", 0), ("abc", "cab", 2), ("color", "cursor", 3),
            ("lat", "long", 3),
        ])
    func counts(text: String, other: String, distance: Int) throws {
        let measured = try #require(EditDistance(from: Array(text.utf8))).distance(to: Array(other.utf8))
        #expect(measured == distance)
    }

    @Test("The distance is that of the usual table, for texts of any bytes up to the longest")
    func agreesWithTheTable() throws {
        var random = SeededGenerator()
        for _ in 0..<3000 {
            let alphabet: ClosedRange<UInt8> = Bool.random(using: &random) ? 97...99 : 0...255
            let texts = [1, 0].map { least in
                (0..<Int.random(in: least...64, using: &random)).map { _ in
                    UInt8.random(in: alphabet, using: &random)
                }
            }
            let measured = try #require(EditDistance(from: texts[0])).distance(to: texts[1])
            #expect(measured == table(texts[0], texts[1]), "\(texts)")
        }
    }

    @Test("The distance is measured from texts of 1 to 64 bytes")
    func hasBounds() {
        #expect(EditDistance(from: []) == nil)
        #expect(EditDistance(from: Array(repeating: 1, count: 65)) == nil)
        let longest = EditDistance(from: Array(repeating: 1, count: 64))
        #expect(longest?.distance(to: Array(repeating: 1, count: 200)) == 136)
        #expect(longest?.distance(to: Array(repeating: 2, count: 64)) == 64)
    }

    private func table(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var row = Array(0...second.count)
        for (index, byte) in first.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in second.indices {
                let replaced = diagonal + (second[column] == byte ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[second.count]
    }
}

import PointsOfInterestServerAPI
import Randomness
import Testing

@testable import SpatialIndex

@Suite("The words that differ by one error", .timeLimit(.minutes(2)))
struct WordErrorTests {
    /// With few letters, many words have the same half; with letters of one, two and three bytes.
    @Test(
        "They are those that comparing all words finds",
        arguments: [["a", "b", "c"], ["a", "e", "é", "д"], ["a", "д", "ㄱ", "ㄴ", "ㄷ", "z"]])
    func lookingUp(letters: [String]) {
        var generator = SeededGenerator()
        func word(_ lengths: ClosedRange<Int>) -> [UInt8] {
            (0..<Int.random(in: lengths, using: &generator)).flatMap { _ in
                Array(letters.pick(using: &generator).utf8)
            }
        }
        let vocabulary = Set((0..<4000).map { _ in word(1...9) })
        let part = Self.part(vocabulary)
        let columns = part.columns.words
        var foundCount = 0
        for _ in 0..<300 {
            let asked = word(1...8)
            let expected = vocabulary.filter { other in
                letterCount(asked) >= SearchError.minimumLetterCount
                    && SearchError.isOne(between: asked.span, and: other.span)
            }
            var found: [UInt32] = []
            _ = asked.withUnsafeBufferPointer { columns.findWordsWithError($0, &found) }
            let words = Set(found.map { Array(columns.word($0)) })
            #expect(
                words == expected, "\(String(decoding: asked, as: UTF8.self)) POI_TEST_SEED=\(generator.seed)"
            )
            foundCount += words.count
        }
        #expect(foundCount > 300)
    }

    private func letterCount(_ word: [UInt8]) -> Int { word.count { $0 & 0xC0 != 0x80 } }

    /// A part whose places have these words as their names.
    private static func part(_ words: Set<[UInt8]>) -> IndexPart {
        var builder = IndexPartBuilder(expecting: words.count)
        for (id, word) in words.enumerated() {
            word.withUnsafeBufferPointer { word in
                builder.add(
                    IndexEntry(
                        id: Int64(id), latitude: Double(id % 90), longitude: 0, category: 0,
                        isFeatured: false,
                        foldedNames: word, record: UnsafeRawBufferPointer(start: nil, count: 0)))
            }
        }
        return builder.build()
    }
}

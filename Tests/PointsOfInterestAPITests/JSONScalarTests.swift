import Randomness
import Testing

@testable import PointsOfInterestAPI

@Suite("The JSON writer's strings and numbers")
struct JSONScalarTests {
    private static let escapes: [Character: String] = [
        "\"": #"\""#, "\\": #"\\"#, "\n": #"\n"#, "\u{1F}": #"\u001f"#, "\u{1}": #"\u0001"#,
    ]

    @Test("A character is escaped at any position, also where texts are read in blocks")
    func escapesEverywhere() {
        for length in 1...50 {
            for position in 0..<length {
                for (character, escape) in Self.escapes {
                    let before = String(repeating: " ", count: position)
                    let after = String(repeating: "\u{7F}", count: length - position - 1)
                    var writer = JSONWriter()
                    writer.value(before + String(character) + after)
                    #expect(String(decoding: writer.bytes, as: UTF8.self) == "\"\(before)\(escape)\(after)\"")
                }
            }
        }
    }

    @Test("A number is written in the shortest form that reads back the same")
    func writesShortNumbers() {
        var random = SeededGenerator()
        let powers = [1, 1e1, 1e3, 1e7, 1e8, 1e12]
        for _ in 0..<20_000 {
            let digits = Int.random(in: -1_000_000_000_000_000...1_000_000_000_000_000, using: &random)
            expectShortest(Double(digits) / powers[Int.random(in: powers.indices, using: &random)])
        }
        let edges: [Double] = [
            0, -0.0, 1, -1, 9.9999999, 0.0000001, -0.0000001, 0.00000015, 99_999_999.9999999, 1e8, 1e300,
        ]
        for number in edges {
            expectShortest(number)
        }
    }

    private func expectShortest(_ number: Double) {
        var writer = JSONWriter()
        writer.value(number)
        let text = String(decoding: writer.bytes, as: UTF8.self)
        #expect(Double(text) == number)
        #expect(digits(of: text) <= digits(of: number.description), "\(text) for \(number)")
    }

    /// How many digits carry the value, which is what shortest means.
    private func digits(of text: String) -> Int {
        let mantissa = text.prefix { $0 != "e" }.filter(\.isNumber)
        let trimmed = mantissa.drop { $0 == "0" }
        return trimmed.reversed().drop { $0 == "0" }.count
    }
}

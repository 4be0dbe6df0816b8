import Foundation
import PrivateCluster
import Randomness
import Testing

@testable import POIDatabase

/// The rule of normalisation is written twice: in Swift, and as the checks of the tables.
@Suite("Normalised texts in the database", .timeLimit(.minutes(10)))
struct NormalisedTextTests {
    /// Characters that a rule is about, and what is beside them.
    private static let special = Array(
        "a1é日\u{1f600}-.:/?#@%<>[]^~|'\"\\ \u{1}\t\n\r\u{7f}\u{80}\u{85}\u{9f}\u{a0}\u{ad}\u{301}\u{1680}\u{2000}\u{200b}\u{200d}\u{200f}\u{2010}\u{2028}\u{2029}\u{202e}\u{202f}\u{205f}\u{2060}\u{3000}\u{3002}\u{feff}\u{fffd}\u{10ffff}"
            .unicodeScalars)
    private static let beginnings = ["", "", "http://", "https://a.", "HTTP://", "a.", "//", "xn--"]
    private static let lengths = [0, 1, 2, 3, 5, 8, 13, 20, 199, 200, 201, 299, 300, 301, 1100]

    private static func text(using generator: inout SeededGenerator) -> String {
        let length =
            generator.next() % 20 == 0
            ? lengths.randomElement(using: &generator) ?? 0 : Int.random(in: 0...12, using: &generator)
        let isPlain = generator.next() % 3 == 0
        let scalars = (0..<length).compactMap { _ in
            generator.next() % 4 > 0 || isPlain
                ? (isPlain ? special.prefix(20) : special[...]).randomElement(using: &generator)
                : Unicode.Scalar(UInt32.random(in: 1...0x10FFFF, using: &generator))
        }
        return (beginnings.randomElement(using: &generator) ?? "") + String(String.UnicodeScalarView(scalars))
    }

    /// `POI_TEST_TEXTS=200000` tries more.
    @Test("The tables' checks accept every text that the normalisation lets through")
    func random() async throws {
        let count = ProcessInfo.processInfo.environment["POI_TEST_TEXTS"].flatMap { Int($0) } ?? 3000
        var generator = SeededGenerator()
        let rows = (0..<count).map { number in
            let texts = (0..<4).map { _ in
                // Scalar by scalar: to Swift, a quotation mark with an accent is one character.
                let doubled = Self.text(using: &generator).unicodeScalars
                    .flatMap { $0 == "\"" ? [$0, $0] : [$0] }
                return "\"" + String(String.UnicodeScalarView(doubled)) + "\""
            }
            return "\(texts[0]),\(texts[1]),cafe,\(number % 90),0,\(texts[2]),\(texts[3])"
        }
        let database = try MigratedDatabase.empty()
        let file = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID()).csv")
        try Data(
            "id,name,category,latitude,longitude,address,website\n\(rows.joined(separator: "\n"))\n".utf8
        )
        .write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let report = try await database.importFile(file.path) { source, _ in source.columns = [:] }
        #expect(report.read == count)
        #expect(report.added + report.duplicates + report.rejected.values.reduce(0, +) == count)
        #expect(report.added > count / 2)
        // The same texts are the same places, by their ids or by their digests.
        #expect(
            try await database.importFile(file.path) { source, _ in source.columns = [:] }.unchanged
                == report.added)
    }
}

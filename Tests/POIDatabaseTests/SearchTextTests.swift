import Foundation
import Places
import Postgres
import Randomness
import Testing

@testable import POIDatabase

/// The words of a name in SQL against the same rule in Swift: `NameFolder`, by which the index finds places.
@Suite("The words of a name", .timeLimit(.minutes(5)))
struct SearchTextTests {
    /// PostgreSQL 15 normalises by Unicode 14; what came later it doesn't know.
    private static let newestAge = (14, 0)

    @Test("SQL and Swift split a name into the same words, for every character that both know")
    func everyCharacter() async throws {
        let scalars = (0x20...0x2FFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init).filter {
            scalar in
            guard let age = scalar.properties.age else { return false }
            return (age.major, age.minor) <= Self.newestAge
                // Thousands of them, all alike.
                && !(0x3400...0x9FFF).contains(scalar.value) && !(0x2_0000...0x2_F7FF).contains(scalar.value)
        }
        #expect(scalars.count > 40_000)
        try await expectSameWords(scalars.map { "x\($0)Y \($0)" })
    }

    @Test("SQL and Swift split random names into the same words")
    func randomNames() async throws {
        var generator = SeededGenerator()
        var names: [String] = []
        for _ in 0..<5000 {
            var name = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 1...30, using: &generator) {
                name.append(Self.randomScalar(using: &generator))
            }
            names.append(String(name))
            names.append(PlaceNames.random(using: &generator))
        }
        try await expectSameWords(names)
    }

    private static func randomScalar(using generator: inout SeededGenerator) -> Unicode.Scalar {
        let ranges: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0x20...0x7E, 0xA0...0x24F, 0x300...0x36F, 0x370...0x3FF, 0x400...0x52F,
            0x1E00...0x1FFF,
            0x2000...0x206F, 0x3000...0x30FF, 0xAC00...0xACFF, 0xFF00...0xFF9F, 0x1F100...0x1F1FF,
            0x1D400...0x1D7FF,
        ]
        while true {
            let range = ranges[Int.random(in: ranges.indices, using: &generator)]
            let value = UInt32.random(in: range, using: &generator)
            guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age,
                (age.major, age.minor) <= newestAge
            else { continue }
            return scalar
        }
    }

    private func expectSameWords(_ names: [String]) async throws {
        try await MigratedDatabase.unfinished().withSession { session in
            let rows = try await session.run(
                """
                SELECT ARRAY(SELECT word FROM folded_words(search_text(name)))
                FROM unnest($1::text[]) WITH ORDINALITY AS given (name, n) ORDER BY n
                """,
                [.textArray(names)])
            #expect(rows.count == names.count)
            var (folder, failures) = (NameFolder(), 0)
            for (name, row) in zip(names, rows) {
                let words = Set(try row.decode([String].self, at: 0).map { Array($0.unicodeScalars) })
                Array(name.utf8).withUnsafeBufferPointer { folder.fold($0) }
                let expected = Set(
                    folder.words.split(separator: UInt8(ascii: " ")).map {
                        Array(String(decoding: $0, as: UTF8.self).unicodeScalars)
                    })
                if words != expected, failures < 10 {
                    failures += 1
                    Issue.record(
                        "\(name.unicodeScalars.map { String($0.value, radix: 16) }): \(words) \(expected)")
                }
            }
        }
    }

    @Test("The words of a name of any length fit into the index")
    func longNames() async throws {
        let database = try MigratedDatabase.unfinished()
        let names = ["㌖", "\u{1D160}", "\u{1F100}", "\u{FDFA}", "가", "ﬃ", "𠀀", "\u{10FFFF}"].map {
            String(repeating: $0, count: 200)
        }
        try await database.withSession { session in
            try await session.run(
                """
                INSERT INTO locations (name, category, latitude, longitude)
                SELECT name, 'museum', 0, 0 FROM unnest($1::text[]) AS given (name)
                """, [.textArray(names)])
            #expect(
                try await session.value("SELECT count(*) FROM location_words", as: Int.self) >= names.count)
        }
        try await database.withStore { store, _ in
            for name in names {
                let text = String(name.prefix(100))
                let page = try await store.places(
                    for: .init(center: .init(latitude: 0, longitude: 0), searchText: text))
                #expect(page.places.count == 1, "\(name.prefix(1))")
            }
        }
    }
}

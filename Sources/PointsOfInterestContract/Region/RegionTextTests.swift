import Foundation
import PointsOfInterestClient
import Testing

@Suite("Searching for words of names in a region", .timeLimit(.minutes(2)))
struct RegionTextTests {
    /// Searches the region for texts and compares what comes with brute force.
    private func compare(
        sourceLocation: SourceLocation = #_sourceLocation, _ texts: (Region) throws -> [String]
    ) async throws {
        try await Region.compare(sourceLocation: sourceLocation) { region, differences in
            for text in try texts(region) {
                try await region.compare(
                    NearbyPlacesRequest(box: region.box, limit: 50, searchText: text), into: &differences)
            }
        }
    }

    @Test(
        "A word, or the beginning of one, finds the places that have a word beginning with it, and no others",
        .contract(
            .invariant, in: .locations, otherwise: "A search field would not find what was typed."),
        .needs(.word))
    func word() async throws {
        try await compare { region in
            let word = try region.needed(\.word, .word)
            return [word, String(word.prefix(3))] + (region.words.fork.map { [$0] } ?? [])
        }
    }

    @Test(
        "Two words find the places with both, not those with one of them",
        .contract(
            .invariant, in: .locations,
            otherwise: "A search for a full name would list everything that shares a word with it."),
        .needs(.sharedWord))
    func twoWords() async throws {
        try await compare { region in
            let pair = try region.needed(\.pair, .sharedWord)
            return ["\(pair.first) \(pair.second)", "\(pair.second) \(pair.first)"]
        }
    }

    @Test(
        "Case and added accents don't matter",
        .contract(
            .invariant, in: .locations,
            otherwise: "A phone that begins a text with a capital letter would find nothing."),
        .needs(.word))
    func capitals() async throws {
        try await compare { region in
            let word = try region.needed(\.word, .word)
            return [word.uppercased(), RegionWords.withAccent(word) ?? word]
        }
    }

    @Test(
        "A name with accents is found with them and without",
        .contract(
            .invariant, in: .locations,
            otherwise: "People without these letters on their keyboards would not find the place."),
        .needs(.accentedWord))
    func accents() async throws {
        try await compare { region in
            let word = try region.needed(\.accented, .accentedWord)
            return [word, FoldedName(word).words[0], word.decomposedStringWithCanonicalMapping]
        }
    }
}

extension Region {
    /// Something to search for, which was there when the test began.
    func needed<Value>(_ path: KeyPath<RegionWords, Value?>, _ fact: Fact) throws -> Value {
        guard let value = words[keyPath: path] else { throw NotShown(fact: fact) }
        return value
    }
}

/// Which names a search text matches, by the contract's words alone: each word of the text has to begin a word of the
/// name, and case and accents don't matter.
///
/// The contract leaves some of it open: how letters such as ß, ı and ø, ligatures and other scripts are folded, and
/// where apostrophes divide words.
enum TextMatch {
    case matches
    case differs
    case open
}

/// A name, as searches see it.
struct FoldedName: Sendable {
    /// A run of characters without a space or punctuation of ASCII.
    private struct Chunk {
        /// Its letters and digits up to the first character that leaves something open.
        var beginning: [UInt8] = []
        var isOpen = false
    }

    private let chunks: [Chunk]
    /// The words that consist of nothing but letters A to Z, with accents or without, and digits; folded.
    let words: [String]

    init(_ name: String) {
        var chunks = [Chunk()]
        for character in Self.characters(of: name) {
            switch character {
            case .plain(let byte) where !chunks[chunks.count - 1].isOpen:
                chunks[chunks.count - 1].beginning.append(byte)
            case .plain, .accent: break
            case .separator: chunks.append(Chunk())
            case .open: chunks[chunks.count - 1].isOpen = true
            }
        }
        self.chunks = chunks.filter { $0.isOpen || !$0.beginning.isEmpty }
        words = self.chunks.filter { !$0.isOpen }.map { String(decoding: $0.beginning, as: UTF8.self) }
    }

    /// Whether a search text matches; its own words have to be plain.
    func match(_ text: String) -> TextMatch {
        let query = FoldedName(text)
        guard !query.chunks.isEmpty, query.chunks.allSatisfy({ !$0.isOpen }) else { return .open }
        var result = TextMatch.matches
        for word in query.chunks {
            if chunks.contains(where: { $0.beginning.starts(with: word.beginning) }) { continue }
            guard chunks.contains(where: \.isOpen) else { return .differs }
            result = .open
        }
        return result
    }
}

extension FoldedName {
    private enum Character {
        /// A letter a to z or a digit.
        case plain(UInt8)
        case accent
        case separator
        case open
    }

    private static func characters(of text: String) -> [Character] {
        let isASCII = text.utf8.allSatisfy { $0 < 128 }
        return (isASCII ? text : text.decomposedStringWithCanonicalMapping).unicodeScalars.map(character)
    }

    private static func character(_ scalar: Unicode.Scalar) -> Character {
        switch scalar {
        case "a"..."z", "0"..."9": .plain(UInt8(scalar.value))
        case "A"..."Z": .plain(UInt8(scalar.value) + 32)
        case "\u{300}"..."\u{36F}": .accent
        case "'": .open
        default: scalar.isASCII ? .separator : .open
        }
    }
}

import Foundation

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

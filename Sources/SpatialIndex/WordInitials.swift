import PointsOfInterestServerAPI

/// Which letters some words begin with, as a bit for each kind of letter: words that a text begins with can only be there if the
/// bit of its first letter is.
struct WordInitials: BitwiseCopyable {
    private var bits: UInt32 = 0

    static let none = WordInitials()

    /// Whether there is a letter, or a kind of letter, that both have.
    @inline(__always)
    func meets(_ other: WordInitials) -> Bool { bits & other.bits != 0 }

    /// Adds a word: the letters a to z and the digits have bits of their own, runs have one together, since they are found by
    /// any of their characters, and all other letters have four.
    mutating func insert(_ word: UnsafeBufferPointer<UInt8>) {
        guard let first = word.first else { return }
        switch first {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): bits |= 1 << UInt32(first - UInt8(ascii: "a"))
        case 0..<0x80: bits |= 1 << 26
        case _ where SearchWords.isRun(word.span): bits |= 1 << 31
        default: bits |= 1 << UInt32(27 + (first ^ (word.count > 1 ? word[1] : 0)) & 3)
        }
    }
}

extension WordInitials {
    /// The letters that a word of a search text may begin with.
    init(_ word: QueryWord) {
        self.init()
        switch word {
        // A word that is spelled out begins with the same letter: ä as ae.
        case .word(let form), .either(let form, _), .run(let form):
            form.withUnsafeBufferPointer { insert($0) }
        }
    }
}

/// How well a place is found by a search text: the rule of `sort=relevance` in `Documentation/api.md`, from the best to the
/// worst.
package enum RelevanceClass: Int, CaseIterable, Sendable {
    /// The words are a name.
    case name
    /// A name begins with the words.
    case beginning
    /// A name has all of the words.
    case words
    /// A name has the first words, and the address or the category has the others.
    case surroundings
    /// A name has all of the words, one of them with an error.
    case error
}

/// The class of a place and its importance: what orders places by relevance before their distance does.
package struct RelevanceRank: Hashable, Comparable, Sendable {
    private static let maximumImportance = 1000

    /// The class above the importance that is missing to 1000.
    package let packed: UInt16

    private init(packed: UInt16) { self.packed = packed }

    /// Makes a rank; the importance is 0…1000.
    @inline(__always)
    package init(_ relevance: RelevanceClass, importance: UInt16) {
        let missing = UInt16(Self.maximumImportance) &- min(importance, UInt16(Self.maximumImportance))
        packed = UInt16(truncatingIfNeeded: relevance.rawValue) << 10 | missing
    }

    /// The rank that was packed; nil where there is no such rank.
    package init?(checking packed: UInt16) {
        guard RelevanceClass(rawValue: Int(packed >> 10)) != nil,
            packed & 1023 <= UInt16(Self.maximumImportance)
        else { return nil }
        self.init(packed: packed)
    }

    package var relevance: RelevanceClass { RelevanceClass(rawValue: Int(packed >> 10)) ?? .error }

    package var importance: Int { Self.maximumImportance - Int(packed & 1023) }

    /// Whether the first one is the better rank.
    package static func < (one: Self, other: Self) -> Bool { one.packed < other.packed }
}

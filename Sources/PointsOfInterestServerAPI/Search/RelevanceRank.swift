/// How well a place is found by a search text: the rule of `sort=relevance` in `Documentation/api.md`.
package enum RelevanceClass: Int, CaseIterable, Sendable {
    /// The words are a name.
    case name
    /// The words are the name of the category.
    case category
    /// A name begins with the words.
    case beginning
    /// A name has all of the words.
    case words
    /// A name has the first words, and the address or the category has the others.
    case surroundings
    /// The address and the category have all of the words.
    case surroundingsOnly
    /// A name has all of the words, one of them with an error.
    case error
    /// A name has all of the words, the last one as the beginning of a word but for an error.
    case begunError
    /// A name has all of the words, one of them with two errors.
    case twoErrors

    package var group: RelevanceGroup {
        switch self {
        case .name, .category, .beginning, .words, .surroundings, .surroundingsOnly: .words
        case .error: .error
        case .begunError: .begunError
        case .twoErrors: .twoErrors
        }
    }

    package var hasErrors: Bool { group != .words }

    /// What it adds to the points of a place.
    package var points: Int {
        switch self {
        case .name: 1000
        case .category: 800
        case .beginning: 300
        case .words, .surroundings: 100
        case .surroundingsOnly, .error, .begunError, .twoErrors: 0
        }
    }
}

/// What places have in common of which all come before, or behind, all others: from the best to the worst.
package enum RelevanceGroup: Int, CaseIterable, Sendable {
    /// Those of the classes without errors.
    case words
    /// Those of the class of this name; the last two only where there are no others.
    case error, begunError, twoErrors
    /// Those that have all words but one, only where there are no others.
    case leftOut
}

/// The group and the points of a place: what orders places by relevance before their distance does.
package struct RelevanceRank: Hashable, Comparable, Sendable {
    private static let maximumImportance: UInt16 = 1000
    private static let pointsOfNear = 1500
    private static let pointBits = 12
    private static let maximumPoints = 1 << pointBits - 1

    /// The group above the points that are missing to 4095.
    package let packed: UInt16

    private init(packed: UInt16) { self.packed = packed }

    /// Makes a rank; the importance is 0…1000.
    @inline(__always)
    package init(
        _ relevance: RelevanceClass, importance: UInt16, isNear: Bool = false, leavesOut: Bool = false
    ) {
        let points =
            Int(min(importance, Self.maximumImportance)) + relevance.points
            + (isNear ? Self.pointsOfNear : 0)
        let group = leavesOut ? .leftOut : relevance.group
        packed = UInt16(group.rawValue << Self.pointBits | Self.maximumPoints - points)
    }

    /// The rank that was packed; nil where there is no such rank.
    package init?(checking packed: UInt16) {
        guard RelevanceGroup(rawValue: Int(packed) >> Self.pointBits) != nil else { return nil }
        self.init(packed: packed)
        let best = RelevanceRank(.name, importance: Self.maximumImportance, isNear: true)
        guard points <= best.points else { return nil }
    }

    package var group: RelevanceGroup {
        RelevanceGroup(rawValue: Int(packed) >> Self.pointBits) ?? .leftOut
    }

    /// The points of a place in its group.
    package var points: Int { Self.maximumPoints - Int(packed) & Self.maximumPoints }

    /// Behind all others.
    package static let last = RelevanceRank(packed: .max)

    /// Whether the first one is the better rank.
    package static func < (one: Self, other: Self) -> Bool { one.packed < other.packed }
}

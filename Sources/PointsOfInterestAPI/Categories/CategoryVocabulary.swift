/// The names of all categories that there ever were: the ones that a request may ask for. It only grows.
public struct CategoryVocabulary: Hashable, Sendable {
    /// The names, each once, in alphabetical order.
    public let sortedNames: [String]
    private let names: Set<String>
    /// Bytes of the longest name. A longer one from outside is not looked up, since its hash may take long.
    private let longestName: Int
    private let nearestName: NearestName

    /// Makes a vocabulary of names.
    public init(_ names: some Sequence<String>) {
        self.names = Set(names)
        sortedNames = self.names.sorted()
        longestName = sortedNames.map(\.utf8.count).max() ?? 0
        nearestName = NearestName(among: sortedNames)
    }

    /// Whether there ever was such a category.
    public func contains(_ name: String) -> Bool {
        name.utf8.count <= longestName && names.contains(name)
    }

    /// The category that was probably meant; nil where none is near.
    public func nearest(to mistaken: String) -> String? {
        nearestName.find(for: mistaken)
    }
}

extension [String] {
    /// Each text once, in the order of its UTF-8.
    ///
    /// By bytes, not by `Set<String>` and `<`: strings are compared by canonical equivalence, which takes the square of
    /// a run of combining marks each time.
    package var uniqueInByteOrder: [String] {
        Set(map { [UInt8]($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
            .map { String(decoding: $0, as: UTF8.self) }
    }
}

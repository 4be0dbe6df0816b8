/// The names of all categories that have ever existed, which a request may ask for. It only grows.
public struct CategoryVocabulary: Hashable, Sendable {
    /// The names, each once, in alphabetical order.
    public let sortedNames: [String]
    private let names: Set<String>
    /// Bytes of the longest name. A longer one from outside is not looked up, since hashing it may take long.
    private let longestName: Int
    private let nearestName: NearestName

    /// Makes a vocabulary of names.
    public init(_ names: some Sequence<String>) {
        self.names = Set(names)
        sortedNames = self.names.sorted()
        longestName = sortedNames.map(\.utf8.count).max() ?? 0
        nearestName = NearestName(among: sortedNames)
    }

    /// Whether there has ever been such a category.
    public func contains(_ name: String) -> Bool {
        name.utf8.count <= longestName && names.contains(name)
    }

    /// The category with the nearest name; nil where none is near.
    public func nearest(to mistaken: String) -> String? {
        nearestName.find(for: mistaken)
    }
}

/// The names of all categories that there ever were: the ones that a request may ask for. It only grows.
public struct CategoryVocabulary: Hashable, Sendable {
    /// The names, each once, in alphabetical order.
    public let sortedNames: [String]
    private let names: Set<String>
    private let nearestName: NearestName

    /// Makes a vocabulary of names.
    public init(_ names: some Sequence<String>) {
        self.names = Set(names)
        sortedNames = self.names.sorted()
        nearestName = NearestName(among: sortedNames)
    }

    /// Whether there ever was such a category.
    public func contains(_ name: String) -> Bool { names.contains(name) }

    /// The category that was probably meant; nil where none is near.
    public func nearest(to mistaken: String) -> String? {
        nearestName.find(for: mistaken)
    }
}

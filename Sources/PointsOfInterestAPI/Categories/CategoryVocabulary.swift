/// The names of all categories that there ever were: the ones that a request may ask for. It only grows.
public struct CategoryVocabulary: Hashable, Sendable {
    private let names: Set<String>

    /// Makes a vocabulary of names.
    public init(_ names: some Sequence<String>) {
        self.names = Set(names)
    }

    /// The names in alphabetical order.
    public var sortedNames: [String] { names.sorted() }

    /// Whether there ever was such a category.
    public func contains(_ name: String) -> Bool { names.contains(name) }

    /// The category that was probably meant; nil where none is near.
    public func nearest(to mistaken: String) -> String? {
        // A name that is much longer than any category is none's slip, and would take long to compare.
        guard mistaken.utf8.count <= 100 else { return nil }
        return NearestName.find(for: mistaken, among: sortedNames)
    }
}

/// The names that a request may filter by.
public struct FilterVocabulary: Hashable, Sendable {
    /// The categories that have ever existed: they only grow.
    public let categories: NameVocabulary
    /// The datasets that places came from, as in `/attributions`, and those that are described but have no places.
    public let datasets: NameVocabulary

    /// Makes a vocabulary of names.
    public init(categories: some Sequence<String>, datasets: some Sequence<String> = []) {
        self.init(categories: NameVocabulary(categories), datasets: NameVocabulary(datasets))
    }

    /// Makes a vocabulary of names that are prepared already.
    package init(categories: NameVocabulary, datasets: NameVocabulary) {
        self.categories = categories
        self.datasets = datasets
    }
}

/// Names of one kind.
public struct NameVocabulary: Hashable, Sendable {
    /// The names, each once, in the order of their UTF-8.
    public let sortedNames: [String]
    private let names: Set<ExactName>
    private let nearestName: NearestName

    /// Makes a vocabulary of names.
    public init(_ names: some Sequence<String>) {
        sortedNames = Array(names).uniqueInByteOrder
        self.names = Set(sortedNames.map(ExactName.init))
        nearestName = NearestName(among: sortedNames)
    }

    /// Whether the name is one of them.
    public func contains(_ name: String) -> Bool { names.contains(ExactName(name)) }

    /// The nearest name; nil where none is near.
    public func nearest(to mistaken: String) -> String? {
        nearestName.find(for: mistaken)
    }
}

/// A name that is compared byte by byte, as in PostgreSQL. Swift compares strings by canonical equivalence, which also
/// takes time that grows with the square of the length of a run of combining marks.
public struct ExactName: Hashable, Sendable {
    /// The name.
    public let text: String

    /// Takes a name as it is.
    public init(_ text: String) {
        self.text = text
    }

    /// Whether both have the same bytes.
    public static func == (one: Self, other: Self) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

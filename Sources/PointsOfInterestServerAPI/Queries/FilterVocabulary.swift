/// The names that a request may filter by.
public struct FilterVocabulary: Hashable, Sendable {
    /// The categories that have ever existed: they only grow.
    public let categories: NameVocabulary
    /// The datasets that places came from, or that are described: those of `/attributions`, and such without places.
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

/// A name that is only equal to itself, byte by byte, as in PostgreSQL. Strings are equal where they are canonically
/// equivalent, which also takes the square of a run of combining marks to find out.
public struct ExactName: Hashable, Sendable {
    /// The name.
    public let text: String

    /// Takes a name as it is.
    public init(_ text: String) {
        self.text = text
    }

    /// Whether both have the same bytes.
    public static func == (one: Self, other: Self) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    /// By the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

/// The texts of a table's row that may be its header, as the names of the columns.
struct TableHeader {
    /// How many rows a header is looked for in, below a title.
    static let maximumRows = 20

    private let names: Set<String>

    init(_ names: some Sequence<String>) {
        self.names = Set(names.map { $0.trimmingBlanks.asciiLowercased })
    }

    /// Whether a mapping finds in these columns what every place must have; an option may give all one category.
    func isFound(by mapping: Mapping) -> Bool {
        mapping.missingFields { names.contains(mapping.fieldNames[$0].asciiLowercased) }.allSatisfy {
            $0 == .category
        }
    }
}

extension String {
    /// The text without the blanks of ASCII around it.
    var trimmingBlanks: String {
        let kept = unicodeScalars.drop { $0.value <= 0x20 }
        return String(kept.reversed().drop { $0.value <= 0x20 }.reversed().map(Character.init))
    }
}

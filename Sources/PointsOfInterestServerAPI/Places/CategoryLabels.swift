import PointsOfInterestAPI

/// The words for categories by language, as the table `categories` has them.
package struct CategoryLabels: Hashable, Sendable, Codable {
    /// By the names of categories and by languages in lower case: the label, which is shown, then other words for it.
    private var byCategory: [String: [String: [String]]]

    package static let none = CategoryLabels([:])

    package init(_ byCategory: [String: [String: [String]]]) {
        self.byCategory = byCategory.mapValues { words in
            // Of tags that differ in case, the words of all count.
            words.sorted { $0.key < $1.key }
                .reduce(into: [:]) { $0[$1.key.asciiLowercased, default: []] += $1.value }
        }
    }

    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([String: [String: [String]]].self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(byCategory)
    }

    /// The names of the categories that it was made with, in order.
    package var categories: [String] { byCategory.keys.sorted() }

    /// Adds the words for categories that it has none for.
    package mutating func add(_ labels: CategoryLabels) {
        byCategory.merge(labels.byCategory) { first, _ in first }
    }

    /// The labels and other words for a category in all languages, each once.
    package func words(for category: String) -> [String] {
        Set(wordsByLanguage(for: category).values.joined()).sorted()
    }

    /// The label and then other words for a category, by languages in lower case; empty where it has none.
    package func wordsByLanguage(for category: String) -> [String: [String]] { byCategory[category] ?? [:] }

    /// What a category is called, by languages in lower case.
    package func labels(of category: String) -> [String: String] {
        wordsByLanguage(for: category).compactMapValues(\.first)
    }

    /// What a category is called in the first of the languages that it has a label in; nil where it has none in any.
    package func label(of category: String, in languages: LanguageLookup) -> String? {
        guard !languages.tags.isEmpty, let words = byCategory[category] else { return nil }
        return languages.tags.lazy.compactMap { words[String(decoding: $0, as: UTF8.self)]?.first }.first
    }
}

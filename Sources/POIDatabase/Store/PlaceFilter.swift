import POIService
import PointsOfInterestAPI
import Postgres

/// What a request asks of its places, apart from where they are.
struct PlaceFilter: Sendable {
    /// The categories, each once; none is all.
    let categories: [String]
    let featured: Bool?
    /// The words of the search text, the longest first, which are most likely the rarest; nil without one.
    let words: [String]?

    init(_ request: LocationsRequest) {
        categories = Set(request.categories).sorted()
        featured = request.featured
        words = request.searchText.map { text in
            SearchWords.words(ofQuery: text).sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
        }
    }

    /// Whether every place matches.
    var isEmpty: Bool { categories.isEmpty && featured == nil && words == nil }

    /// Whether a place's category and its being featured are as asked.
    func admits(category: String, featured: Bool) -> Bool {
        (categories.isEmpty || categories.contains(category)) && (self.featured ?? featured) == featured
    }

    /// What `search_text` is like where each of these words begins one of its own. Words hold no wildcard: all
    /// punctuation of ASCII separates them.
    static func patterns(_ words: some Sequence<String>) -> PostgresValue {
        .textArray(words.map { "% \($0)%" })
    }

    /// The statement that looks into cubes for such places.
    func cubeStatement(isLimited: Bool) -> CubeStatement {
        let source: CubeStatement.Source =
            if !categories.isEmpty { .categories } else if featured == true { .featured } else { .all }
        let check: CubeStatement.Check =
            if words != nil { .words } else if source == .all, featured == false { .notFeatured } else { .none }
        return CubeStatement(source: source, check: check, isLimited: isLimited)
    }

    /// That statement's parameters behind the cubes' keys.
    var cubeParameters: [PostgresValue] {
        var values: [PostgresValue] = []
        if !categories.isEmpty {
            let kinds = categories.flatMap { category in
                [false, true].filter { (featured ?? $0) == $0 }.map { (category, $0) }
            }
            values.append(.textArray(kinds.map(\.0)))
            values.append(.int8Array(kinds.map { $0.1 ? 1 : 0 }))
        }
        if let words {
            values.append(Self.patterns(words))
            values.append(featured.map(PostgresValue.bool) ?? .null(.bool))
        }
        return values
    }
}

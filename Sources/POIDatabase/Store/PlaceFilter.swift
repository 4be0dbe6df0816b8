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
        categories = request.categories.uniqueInByteOrder
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
    ///
    /// - Parameter readsAll: whether to read places of all kinds where names are looked at.
    func cubeStatement(readsAll: Bool, isLimited: Bool) -> CubeStatement {
        if words != nil {
            return CubeStatement(source: source(readsAll: readsAll), check: .words, isLimited: isLimited)
        }
        let source = source(readsAll: false)
        return CubeStatement(
            source: source, check: source == .all && featured == false ? .notFeatured : .none,
            isLimited: isLimited)
    }

    /// That statement's parameters behind the cubes' keys.
    func cubeParameters(readsAll: Bool) -> [PostgresValue] {
        var values: [PostgresValue] = []
        if source(readsAll: readsAll && words != nil) == .categories {
            let kinds = categories.flatMap { category in
                [false, true].filter { (featured ?? $0) == $0 }.map { (category, $0) }
            }
            values.append(.textArray(kinds.map(\.0)))
            values.append(.int8Array(kinds.map { $0.1 ? 1 : 0 }))
        }
        if let words {
            values.append(Self.patterns(words))
            values.append(featured.map(PostgresValue.bool) ?? .null(.bool))
            values.append(categories.isEmpty ? .null(.textArray) : .textArray(categories))
        }
        return values
    }

    private func source(readsAll: Bool) -> CubeStatement.Source {
        if readsAll { return .all }
        if !categories.isEmpty { return .categories }
        return featured == true ? .featured : .all
    }
}

import POIService
import PointsOfInterestAPI
import Postgres

/// What a request asks of its places, apart from where they are.
struct PlaceFilter: Sendable {
    /// The categories, each once; none is all.
    let categories: [String]
    let featured: Bool?
    /// The words of the search text, the longest first, which are most likely the rarest; nil without one.
    ///
    /// A word that another begins with is left out: whatever matches the longer one matches both.
    let words: [String]?

    init(_ request: NearbyPlacesRequest) {
        categories = request.categories.uniqueInByteOrder
        featured = request.featured
        words = request.searchText.map { text in
            let words = SearchWords.words(ofQuery: text).sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
            return words.indices.filter { index in
                !words[..<index].contains { $0.utf8.starts(with: words[index].utf8) }
            }.map { words[$0] }
        }
    }

    /// Whether every place matches.
    var isEmpty: Bool { categories.isEmpty && featured == nil && words == nil }

    /// Whether a place's being featured is as asked.
    func admits(featured: Bool) -> Bool { (self.featured ?? featured) == featured }

    /// Where the places of these categories are found.
    var source: CubeStatement.Source {
        if !categories.isEmpty { return .categories }
        return featured == true ? .featured : .all
    }

    /// The parameters of a `CubeStatement` for that source behind the cubes' keys.
    var cubeParameters: [PostgresValue] {
        guard source == .categories else { return [] }
        let kinds = categories.flatMap { category in
            [false, true].filter(admits).map { (category, $0) }
        }
        return [.textArray(kinds.map(\.0)), .int8Array(kinds.map { $0.1 ? 1 : 0 })]
    }

    /// The parameters of `WordStatements` that tell what matches: what the folded name has to be like (text[]), what
    /// featured must be and what the category must be among, if anything (boolean and text[]).
    ///
    /// Words hold no wildcard: all punctuation of ASCII separates them.
    func matchParameters(_ words: [String]) -> [PostgresValue] {
        [
            .textArray(words.map { "% \($0)%" }), featured.map(PostgresValue.bool) ?? .null(.bool),
            categories.isEmpty ? .null(.textArray) : .textArray(categories),
        ]
    }
}

/// Which places a request is about, apart from where they are: the parameters that requests for places and for clusters
/// share, without the box.
public struct PlaceFilter: Hashable, Sendable {
    /// The maximum number of datasets that a filter may name.
    public static let maximumDatasetCount = 50

    /// Only places of one of these categories, at most 50; empty is all.
    public var categories: [String]
    /// Only places that came from one of these datasets, as `PointOfInterest.Source` names them, at most 50; empty is all,
    /// also those without a source.
    public var datasets: [String]
    /// Only places whose name has, for each word of this text, a word that begins with it. Case and accents
    /// don't matter. 1…100 characters.
    public var searchText: String?
    /// Only places that are featured, or only those that aren't.
    public var featured: Bool?

    /// Makes a filter; by default all places match. The server checks it.
    public init(
        categories: [String] = [], datasets: [String] = [], searchText: String? = nil, featured: Bool? = nil
    ) {
        self.categories = categories
        self.datasets = datasets
        self.searchText = searchText
        self.featured = featured
    }

    /// Writes the query's items in a fixed order, without absent ones: equal filters have equal queries.
    package func encode(into query: inout QueryWriter) {
        if !categories.isEmpty {
            query.add("category", categories.uniqueInByteOrder.joined(separator: ","))
        }
        if !datasets.isEmpty { query.add("dataset", datasets.uniqueInByteOrder) }
        if let searchText { query.add("q", searchText) }
        if let featured { query.add("featured", featured ? "true" : "false") }
    }
}

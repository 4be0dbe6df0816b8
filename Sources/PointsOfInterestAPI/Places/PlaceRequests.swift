/// `GET /locations`: the places around a centre or in a box, nearest first; or those with some ids.
///
/// The client encodes it, the server decodes it. It has the properties of its filter, too: `request.featured` is
/// `request.filter.featured`.
@dynamicMemberLookup
public struct NearbyPlacesRequest: Hashable, Sendable {
    /// Half the Earth's circumference in metres, rounded up: no two places are farther apart.
    public static let maximumRadiusMeters = 20_037_508.0
    /// The numbers of places a request may ask for.
    public static let limits = 1...100
    /// Up to how many metres from the centre a place is near, in a search by relevance that doesn't say it.
    public static let defaultNearMeters = 50_000.0
    /// The maximum number of places in the response to a request without a limit.
    public static let defaultLimit = 20
    /// The maximum number of ids that a request may name.
    public static let maximumIDCount = 100
    /// The maximum number of categories that a request may name.
    public static let maximumCategoryCount = 50
    /// The lengths of a search text, in Unicode scalars.
    public static let searchTextLengths = 1...100
    /// The maximum number of properties that a request may name.
    package static let maximumPropertyCount = 20
    /// The maximum number of languages that a request may name.
    package static let maximumLanguageCount = 10

    /// The position that distances are measured from; may be nil where there is a box.
    public var center: Coordinate?
    /// Only places at most this far from the centre, in metres, above 0; nil is no limit. Not with a box.
    public var radiusMeters: Double?
    /// At most this many places, 1…100; nil is 20.
    public var limit: Int?
    /// The order of the places; nil is by distance. By relevance needs a search text, but neither a centre nor a box.
    public var sort: PlaceSort?
    /// Only places in this box. Without a centre, places are ordered by their distance from the box's middle. The
    /// response doesn't have these distances.
    public var box: BoundingBox?
    /// Only places that match this filter.
    public var filter: PlaceFilter
    /// Only the places with these ids, each at least 1; at most 100, and empty is all. Ids that no place has are passed over.
    /// Without a centre, places are ordered by their ids. Together with a centre, properties and languages only, and never more
    /// than one page.
    public var ids: [Int] = []
    /// `nearMeters`, or this where it is nil: an optional number takes twice the memory, and requests are copied often.
    @usableFromInline package var storedNearMeters = -Double.infinity
    /// What places come with.
    @usableFromInline package var content = PlaceContent()
    /// The page to get; nil is the first.
    @usableFromInline package var cursor: PageCursor?

    /// Up to how many metres from the centre places are near, and come first if they aren't found much worse, 0…20,037,508; 0 is none,
    /// and nil 50,000. Only sent with the order by relevance and a centre; from version 0.7.0 of the service on.
    public var nearMeters: Double? {
        get { storedNearMeters == -.infinity ? nil : storedNearMeters }
        set { storedNearMeters = newValue ?? -.infinity }
    }

    /// The names of the properties that places come with, at most 20. A place lacks those that it doesn't have.
    public var properties: [String] {
        get { content.properties }
        set { content.properties = newValue }
    }

    /// The languages of the user, the preferred one first: at most 10 tags (BCP 47), such as `zh-Hant-TW`. A place comes with its
    /// name in the first of them that it has one in, and then has a `language`.
    public var languages: [String] {
        get { content.languages }
        set { content.languages = newValue }
    }

    /// Makes a request. The server checks its options.
    public init(
        center: Coordinate?, radiusMeters: Double? = nil, limit: Int? = nil, box: BoundingBox? = nil,
        categories: [String] = [], searchText: String? = nil, featured: Bool? = nil
    ) {
        self.center = center
        self.radiusMeters = radiusMeters
        self.limit = limit
        self.box = box
        self.filter = PlaceFilter(categories: categories, searchText: searchText, featured: featured)
    }

    /// A property of the filter.
    public subscript<Member>(dynamicMember member: WritableKeyPath<PlaceFilter, Member>) -> Member {
        get { filter[keyPath: member] }
        set { filter[keyPath: member] = newValue }
    }

    /// Makes a request for the places that match a filter.
    @inlinable
    @inline(__always)
    package init(
        center: Coordinate?, radiusMeters: Double?, limit: Int?, box: BoundingBox?, filter: PlaceFilter,
        content: PlaceContent, cursor: PageCursor?, sort: PlaceSort? = nil, nearMeters: Double? = nil
    ) {
        self.center = center
        self.radiusMeters = radiusMeters
        self.limit = limit
        self.box = box
        self.filter = filter
        self.content = content
        self.cursor = cursor
        self.sort = sort
        storedNearMeters = nearMeters ?? -.infinity
    }

    /// Makes a request for the places in a box.
    public init(
        box: BoundingBox, limit: Int? = nil, categories: [String] = [], searchText: String? = nil,
        featured: Bool? = nil
    ) {
        self.init(
            center: nil, limit: limit, box: box, categories: categories, searchText: searchText,
            featured: featured)
    }

    /// Makes a request for the places that a text finds, wherever they are, the best first. With a centre, places have distances,
    /// and those within `nearMeters` come first, if they aren't found much worse.
    public init(searchText: String, center: Coordinate? = nil, limit: Int? = nil) {
        self.init(center: center, limit: limit, searchText: searchText)
        sort = .relevance
    }

    /// Makes a request for the places with some ids, favourites for instance.
    public init(ids: [Int], center: Coordinate? = nil) {
        self.init(center: center)
        self.ids = ids
    }
}

extension NearbyPlacesRequest {
    /// Writes the query's items in a fixed order and leaves absent options out, so that equal requests have equal
    /// queries.
    package func encode(into query: inout QueryWriter) {
        encodeCenter(into: &query)
        if let limit { query.add("limit", limit) }
        encodeFilters(into: &query)
        if let cursor { query.add("cursor", cursor.rawValue) }
    }

    /// Writes the items that come before the page's size.
    package func encodeCenter(into query: inout QueryWriter) {
        if !ids.isEmpty { query.add("ids", Set(ids).sorted().map(String.init)) }
        if let center {
            query.add("lat", center.latitude)
            query.add("long", center.longitude)
        }
        if let radiusMeters { query.add("radius", radiusMeters) }
    }

    /// Writes the items that come between the page's size and the cursor.
    package func encodeFilters(into query: inout QueryWriter) {
        if let box { query.add("bbox", box) }
        filter.encode(into: &query)
        if let sort { query.add("sort", sort.rawValue) }
        if let nearMeters, sort != nil, center != nil { query.add("near", nearMeters) }
        content.encode(into: &query)
    }

    /// The query, percent-encoded.
    package var encodedQuery: String {
        var query = QueryWriter()
        encode(into: &query)
        return query.text
    }
}

/// An order of places other than by distance.
public enum PlaceSort: String, Hashable, Sendable, CaseIterable {
    /// How well the search text finds a place, how important it is, and whether it is near decide which come first. A place is
    /// found by the beginnings of words of its name as without it, but also by its address and its category, by abbreviations, with
    /// errors, and where nothing else is found, without a word. The order may improve with each release of the service.
    case relevance
}

/// Names the next page of a response. A client gets it from a `Link` header and sends it back unchanged.
@usableFromInline
package struct PageCursor: Hashable, Sendable {
    /// The cursor as it stands in a query: unreserved characters only.
    package let rawValue: String

    /// Makes a cursor of its text, which isn't checked.
    package init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// `GET /locations/{id}`: one place, with its distance where a centre is given.
package struct PlaceRequest: Hashable, Sendable {
    /// The place's id.
    package var id: Int
    /// Where the distance is measured from; without it the response has no distance.
    package var center: Coordinate?
    /// The languages of the user, as in `NearbyPlacesRequest`.
    package var languages: [String]

    /// Makes a request.
    package init(id: Int, center: Coordinate? = nil, languages: [String] = []) {
        self.id = id
        self.center = center
        self.languages = languages
    }

    /// The path, below any prefix.
    package var path: String { EndpointPath.location(id: id) }

    /// Writes the query's items.
    package func encode(into query: inout QueryWriter) {
        if let center {
            query.add("lat", center.latitude)
            query.add("long", center.longitude)
        }
        query.addLanguages(languages)
    }

    /// The query, percent-encoded; empty without a centre and languages.
    package var encodedQuery: String {
        var query = QueryWriter()
        encode(into: &query)
        return query.text
    }
}

/// `GET /categories`: every category, or those that a text finds by their names and the words for them.
package struct CategoriesRequest: Hashable, Sendable {
    /// The text; nil for every category.
    package var searchText: String?
    /// The languages of the user, as in `NearbyPlacesRequest`: categories come with their labels in these.
    package var languages: [String]
    /// Whether categories come with the words for them in all languages.
    package var hasAllWords: Bool

    /// Makes a request.
    package init(searchText: String? = nil, languages: [String] = [], hasAllWords: Bool = false) {
        self.searchText = searchText
        self.languages = languages
        self.hasAllWords = hasAllWords
    }

    /// The query, percent-encoded; empty for every category without labels and words.
    package var encodedQuery: String {
        var query = QueryWriter()
        encode(into: &query)
        return query.text
    }

    /// Writes the query's items.
    package func encode(into query: inout QueryWriter) {
        if let searchText { query.add("q", searchText) }
        query.addLanguages(languages)
        if hasAllWords { query.add("words", "all") }
    }
}

/// What the places of a response come with besides the members that all have: which properties, and a name in which language.
/// Most requests name neither, and then it is a single empty array.
@usableFromInline
package struct PlaceContent: Hashable, Sendable {
    /// The properties and the languages, or nothing.
    private var lists: [[String]] = []

    /// Names nothing.
    package init() {}

    /// Names properties and languages.
    package init(properties: [String], languages: [String]) {
        if !properties.isEmpty || !languages.isEmpty { lists = [properties, languages] }
    }

    /// Whether it names neither.
    package var isEmpty: Bool { lists.isEmpty }

    /// The names of properties.
    package var properties: [String] {
        get { lists.isEmpty ? [] : lists[0] }
        set { self = PlaceContent(properties: newValue, languages: languages) }
    }

    /// The languages, the preferred one first.
    package var languages: [String] {
        get { lists.isEmpty ? [] : lists[1] }
        set { self = PlaceContent(properties: properties, languages: newValue) }
    }

    /// Writes the query's items in a fixed order and leaves absent ones out: the properties, each once and in order, and the
    /// languages.
    package func encode(into query: inout QueryWriter) {
        guard !isEmpty else { return }
        if !properties.isEmpty { query.add("properties", properties.uniqueInByteOrder) }
        query.addLanguages(languages)
    }
}

extension QueryWriter {
    /// Writes languages in lower case, each once and the preferred one first.
    package mutating func addLanguages(_ languages: [String]) {
        if !languages.isEmpty { add("lang", languages.uniqueLanguages) }
    }
}

extension [String] {
    /// Languages in lower case, each once, in their order; few, since they are compared one by one.
    package var uniqueLanguages: [String] {
        map(\.asciiLowercased).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

extension String {
    /// The text with the letters A to Z in lower case.
    package var asciiLowercased: String { String(decoding: utf8.asciiLowercased, as: UTF8.self) }
}

extension Sequence<UInt8> {
    /// The bytes with the letters A to Z in lower case.
    @inlinable
    package var asciiLowercased: [UInt8] { map { (65...90).contains($0) ? $0 | 0x20 : $0 } }
}

/// Which places a request is about, apart from where they are: the parameters that requests for places and for clusters
/// share, without the box.
public struct PlaceFilter: Hashable, Sendable {
    /// The maximum number of datasets that a filter may name.
    public static let maximumDatasetCount = 50

    /// Only places of one of these categories, at most 50; empty is all.
    public var categories: [String]
    /// Only places that came from one of these datasets, as `PointOfInterest.Source` names them, at most 50. If it is
    /// empty, all places match, also those without a source.
    public var datasets: [String] {
        get { rare.first?.datasets ?? [] }
        set { setRare(datasets: newValue, propertyFilters: propertyFilters) }
    }
    /// Only places in whose name each word of this text is the beginning of a word. Case and accents don't matter. 1…100
    /// characters.
    public var searchText: String?
    /// Only places that are featured, or only those that aren't.
    public var featured: Bool?
    /// Only places that match all of these, at most 5, each for another property.
    public var propertyFilters: [PropertyFilter] {
        get { rare.first?.propertyFilters ?? [] }
        set { setRare(datasets: datasets, propertyFilters: newValue) }
    }
    /// What few filters have, or nothing: with more values of their own, requests take longer to copy.
    private var rare: [Rare] = []

    private struct Rare: Hashable {
        let datasets: [String]
        let propertyFilters: [PropertyFilter]
    }

    /// Makes a filter; by default all places match. The server checks it.
    public init(
        categories: [String] = [], datasets: [String] = [], searchText: String? = nil, featured: Bool? = nil
    ) {
        self.categories = categories
        self.searchText = searchText
        self.featured = featured
        if !datasets.isEmpty { setRare(datasets: datasets, propertyFilters: []) }
    }

    private mutating func setRare(datasets: [String], propertyFilters: [PropertyFilter]) {
        rare =
            datasets.isEmpty && propertyFilters.isEmpty
            ? [] : [Rare(datasets: datasets, propertyFilters: propertyFilters)]
    }

    /// Whether it has filters by properties.
    package var hasPropertyFilters: Bool { rare.first?.propertyFilters.isEmpty == false }

    /// Whether it names datasets.
    package var hasDatasets: Bool { rare.first?.datasets.isEmpty == false }

    /// Writes the query's items in a fixed order and leaves absent ones out, so that equal filters have equal queries.
    package func encode(into query: inout QueryWriter) {
        if !categories.isEmpty {
            query.add("category", categories.uniqueInByteOrder.joined(separator: ","))
        }
        if hasDatasets { query.add("dataset", datasets.uniqueInByteOrder) }
        if let searchText { query.add("q", searchText) }
        if let featured { query.add("featured", featured ? "true" : "false") }
        if hasPropertyFilters { propertyFilters.encode(into: &query) }
    }
}

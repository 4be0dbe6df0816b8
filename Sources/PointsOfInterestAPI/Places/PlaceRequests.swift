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

    /// The position that distances are measured from; may be nil where there is a box.
    public var center: Coordinate?
    /// Only places at most this far from the centre, in metres, above 0; nil is no limit. Not with a box.
    public var radiusMeters: Double?
    /// At most this many places, 1…100; nil is 20.
    public var limit: Int?
    /// Only places in this box. Without a centre, places are ordered by their distance from the box's middle. The
    /// response doesn't have these distances.
    public var box: BoundingBox?
    /// Only places that match this filter.
    public var filter: PlaceFilter
    /// Only the places with these ids, each at least 1; at most 100, and empty is all. Ids that no place has are passed over.
    /// Without a centre, places are ordered by their ids. Together with a centre and properties only, and never more than one
    /// page.
    public var ids: [Int] = []
    /// The names of the properties that places come with, at most 20. A place lacks those that it doesn't have.
    public var properties: [String] = []
    /// The page to get; nil is the first.
    public var cursor: PageCursor?

    /// Makes a request. The server checks its options.
    public init(
        center: Coordinate?, radiusMeters: Double? = nil, limit: Int? = nil, box: BoundingBox? = nil,
        categories: [String] = [], searchText: String? = nil, featured: Bool? = nil,
        cursor: PageCursor? = nil
    ) {
        self.center = center
        self.radiusMeters = radiusMeters
        self.limit = limit
        self.box = box
        self.filter = PlaceFilter(categories: categories, searchText: searchText, featured: featured)
        self.cursor = cursor
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
        properties: [String], cursor: PageCursor?
    ) {
        self.center = center
        self.radiusMeters = radiusMeters
        self.limit = limit
        self.box = box
        self.filter = filter
        self.properties = properties
        self.cursor = cursor
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
        query.addProperties(properties)
    }

    /// The query, percent-encoded.
    package var encodedQuery: String {
        var query = QueryWriter()
        encode(into: &query)
        return query.text
    }
}

/// Names the next page of a response. A client gets it from a `Link` header and sends it back unchanged.
public struct PageCursor: Hashable, Sendable {
    /// The cursor as it stands in a query: unreserved characters only.
    public let rawValue: String

    /// Makes a cursor of its text, which isn't checked.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// `GET /locations/{id}`: one place, with its distance where a centre is given.
public struct PlaceRequest: Hashable, Sendable {
    /// The place's id.
    public var id: Int
    /// Where the distance is measured from; without it the response has no distance.
    public var center: Coordinate?

    /// Makes a request.
    public init(id: Int, center: Coordinate? = nil) {
        self.id = id
        self.center = center
    }

    /// The path, below any prefix.
    package var path: String { EndpointPath.location(id: id) }

    /// Writes the query's items.
    package func encode(into query: inout QueryWriter) {
        guard let center else { return }
        query.add("lat", center.latitude)
        query.add("long", center.longitude)
    }

    /// The query, percent-encoded; empty without a centre.
    package var encodedQuery: String {
        var query = QueryWriter()
        encode(into: &query)
        return query.text
    }
}

extension QueryWriter {
    /// Writes the names of the properties that places come with, each once and in order.
    package mutating func addProperties(_ names: [String]) {
        if !names.isEmpty { add("properties", names.uniqueInByteOrder) }
    }
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
    public var datasets: [String]
    /// Only places in whose name each word of this text is the beginning of a word. Case and accents don't matter. 1…100
    /// characters.
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

    /// Writes the query's items in a fixed order and leaves absent ones out, so that equal filters have equal queries.
    package func encode(into query: inout QueryWriter) {
        if !categories.isEmpty {
            query.add("category", categories.uniqueInByteOrder.joined(separator: ","))
        }
        if !datasets.isEmpty { query.add("dataset", datasets.uniqueInByteOrder) }
        if let searchText { query.add("q", searchText) }
        if let featured { query.add("featured", featured ? "true" : "false") }
    }
}

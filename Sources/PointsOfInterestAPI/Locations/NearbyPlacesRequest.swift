/// `GET /locations`: the points of interest around a centre or in a box, nearest first.
///
/// This one description serves both sides: the client encodes it, the server decodes it.
public struct NearbyPlacesRequest: Hashable, Sendable {
    /// Half the Earth's circumference in metres, rounded up: no two places are farther apart.
    public static let maximumRadiusMeters = 20_037_508.0
    /// The numbers of places a request may ask for.
    public static let limits = 1...100
    /// The number of places in the answer to a request that names none.
    public static let defaultLimit = 20
    /// The most categories a request may name.
    public static let maximumCategoryCount = 50
    /// The lengths of a search text, in Unicode scalars.
    public static let searchTextLengths = 1...100

    /// The position that distances are measured from; may be nil where there is a box.
    public var center: Coordinate?
    /// Only places at most this far from the centre, in metres, above 0; nil is no limit. Not with a box.
    public var radiusMeters: Double?
    /// At most this many places, 1…100; nil is 20.
    public var limit: Int?
    /// Only places in this box. Without a centre, the order is by the distance from the box's middle, which
    /// the answer doesn't tell.
    public var box: BoundingBox?
    /// Only places of one of these categories, at most 50; empty is all.
    public var categories: [String]
    /// Only places with a word in their name that begins so, for each word of this text; case and accents
    /// don't matter. 1…100 characters.
    public var searchText: String?
    /// Only places that are featured, or only those that aren't.
    public var featured: Bool?
    /// The page to answer; nil is the first.
    public var cursor: PageCursor?

    /// Makes a request; what its options may be is the server's to check.
    public init(
        center: Coordinate?, radiusMeters: Double? = nil, limit: Int? = nil, box: BoundingBox? = nil,
        categories: [String] = [], searchText: String? = nil, featured: Bool? = nil,
        cursor: PageCursor? = nil
    ) {
        self.center = center
        self.radiusMeters = radiusMeters
        self.limit = limit
        self.box = box
        self.categories = categories
        self.searchText = searchText
        self.featured = featured
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

    /// Where the order starts from: the centre, else the box's middle; nil where there is neither.
    public var orderCenter: Coordinate? { center ?? box?.middle }
}

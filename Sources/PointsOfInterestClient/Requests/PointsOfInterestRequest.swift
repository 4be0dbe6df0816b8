import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Asks for the points of interest around a coordinate, nearest first.
public struct PointsOfInterestRequest: APIRequest, Hashable {
    /// Where the service is, with a path prefix if it has one; a query or a fragment is not used.
    public var baseURL: URL
    /// Only places at most this far away, in metres, above 0; nil is no limit.
    public var radius: Double?
    /// At most this many places, 1…100; nil is the service's default, 20.
    public var limit: Int?
    /// Only places in this box; not together with a radius.
    public var box: BoundingBox?
    /// Only places of one of these categories, at most 50; empty is all.
    public var categories: [String]
    /// Only places with a word in their name that begins so, for each word of this text.
    public var searchText: String?
    /// Only places that are featured, or only those that aren't.
    public var featured: Bool?
    /// The page to ask for; nil is the first.
    public var cursor: PageCursor?

    /// Makes a request for the service at a URL.
    public init(
        baseURL: URL, radius: Double? = nil, limit: Int? = nil, box: BoundingBox? = nil,
        categories: [String] = [], searchText: String? = nil, featured: Bool? = nil, cursor: PageCursor? = nil
    ) {
        self.baseURL = baseURL
        self.radius = radius
        self.limit = limit
        self.box = box
        self.categories = categories
        self.searchText = searchText
        self.featured = featured
        self.cursor = cursor
    }

    /// Makes the `GET` request for the places around a coordinate.
    ///
    /// - Throws: `RequestError.invalidBaseURL`. What the options may be is the service's to check.
    public func makeRequest(from coordinate: Coordinate) throws -> URLRequest {
        let request = NearbyPlacesRequest(
            center: coordinate, radiusMeters: radius, limit: limit, box: box, categories: categories,
            searchText: searchText, featured: featured, cursor: cursor)
        return try URLRequest.get(EndpointPath.locations, request.encode(), baseURL: baseURL)
    }

    /// Reads the places of an answer.
    ///
    /// - Throws: `RequestError.undecodableBody`.
    public func parseResponse(data: Data) throws -> [PointOfInterest] {
        try [PointOfInterest].decode(body: data)
    }
}

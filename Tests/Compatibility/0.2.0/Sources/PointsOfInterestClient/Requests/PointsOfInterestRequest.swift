import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `GET /locations`: loads the first page of places around a coordinate, nearest first. With an `APIRequestLoader`
/// this is the shortest way to them; `PointsOfInterestService` does more.
public struct PointsOfInterestRequest: APIRequest, Hashable {
    /// Where the service is, with a path prefix if it has one. A query or a fragment is ignored.
    public var baseURL: URL
    /// The maximum distance of a place in metres, above 0; nil is no limit.
    public var radiusMeters: Double?
    /// The maximum number of places, 1…100; nil is the service's default, 20.
    public var limit: Int?
    /// Only places in this box. A request has either a box or a radius.
    public var box: BoundingBox?
    /// Only places of these categories, at most 50; empty is all.
    public var categories: [String]
    /// Only places whose name has, for each word of this text, a word that begins with it. White space alone is no
    /// text, as in a search field that was cleared.
    public var searchText: String?
    /// Only places that are featured, or only those that aren't.
    public var featured: Bool?
    /// Where the page begins; nil is the first page.
    public var cursor: PageCursor?
    /// How many decimals the coordinates have that are sent, 0 to 13; nil sends them as they are. 5 are about a metre.
    public var coordinateDecimals: Int?

    /// Makes a request for the service at a URL.
    public init(
        baseURL: URL, radiusMeters: Double? = nil, limit: Int? = nil, box: BoundingBox? = nil,
        categories: [String] = [], searchText: String? = nil, featured: Bool? = nil,
        cursor: PageCursor? = nil,
        coordinateDecimals: Int? = 5
    ) {
        self.baseURL = baseURL
        self.radiusMeters = radiusMeters
        self.limit = limit
        self.box = box
        self.categories = categories
        self.searchText = searchText
        self.featured = featured
        self.cursor = cursor
        self.coordinateDecimals = coordinateDecimals
    }

    /// Makes the `GET` request for the places around a coordinate.
    ///
    /// - Throws: `RequestError.invalidBaseURL`. The options are checked by the service.
    public func makeRequest(from coordinate: Coordinate) throws -> URLRequest {
        let request = NearbyPlacesRequest(
            center: coordinate, radiusMeters: radiusMeters, limit: limit, box: box, categories: categories,
            searchText: searchText, featured: featured, cursor: cursor)
        return try request.coarsened(toDecimals: coordinateDecimals).urlRequest(baseURL: baseURL)
    }

    /// Reads the places of a response.
    ///
    /// - Throws: `RequestError.undecodableBody`.
    public func parseResponse(data: Data) throws -> [PointOfInterest] {
        try [PointOfInterest].decode(body: data)
    }
}

extension NearbyPlacesRequest {
    /// Makes the `GET` request. A search text that is only white space is left out: a search field that was cleared.
    ///
    /// - Throws: `RequestError.invalidBaseURL`.
    func urlRequest(baseURL: URL) throws(RequestError) -> URLRequest {
        var request = self
        if searchText?.allSatisfy(\.isWhitespace) == true { request.searchText = nil }
        return try URLRequest.get(EndpointPath.locations, request.encodedQuery, baseURL: baseURL)
    }
}

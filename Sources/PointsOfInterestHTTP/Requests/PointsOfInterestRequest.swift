import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `GET /locations`: loads the first page of places around a coordinate, nearest first. With an `APIRequestLoader`
/// this is the shortest way to them; `PointsOfInterestService` does more.
///
/// It has the properties of its filter, too: `request.featured` is `request.filter.featured`.
@dynamicMemberLookup
public struct PointsOfInterestRequest: APIRequest, Hashable {
    /// Where the service is, with a path prefix if it has one. A query or a fragment is ignored.
    public var baseURL: URL
    /// The maximum distance of a place in metres, above 0; nil is no limit.
    public var radiusMeters: Double?
    /// The maximum number of places, 1…100; nil is the service's default, 20.
    public var limit: Int?
    /// Only places in this box. A request has either a box or a radius.
    public var box: BoundingBox?
    /// Only places that match this filter. A search text of white space alone is left out: the search field was cleared.
    public var filter: PlaceFilter
    /// The names of the properties that places come with, at most 20.
    public var properties: [String] = []
    /// The languages of the user, the preferred one first, at most 10: places come with their names in these.
    public var languages: [String] = []
    /// The number of decimals of the coordinates in requests, 0 to 13; nil sends coordinates as they are. 5 are about a
    /// metre.
    public var coordinateDecimals: Int?

    /// Makes a request for the service at a URL.
    public init(
        baseURL: URL, radiusMeters: Double? = nil, limit: Int? = nil, box: BoundingBox? = nil,
        categories: [String] = [], searchText: String? = nil, featured: Bool? = nil,
        coordinateDecimals: Int? = 5
    ) {
        self.baseURL = baseURL
        self.radiusMeters = radiusMeters
        self.limit = limit
        self.box = box
        self.filter = PlaceFilter(categories: categories, searchText: searchText, featured: featured)
        self.coordinateDecimals = coordinateDecimals
    }

    /// A property of the filter.
    public subscript<Member>(dynamicMember member: WritableKeyPath<PlaceFilter, Member>) -> Member {
        get { filter[keyPath: member] }
        set { filter[keyPath: member] = newValue }
    }

    /// Makes the `GET` request for the places around a coordinate.
    ///
    /// - Throws: `RequestError.invalidBaseURL`. The options are checked by the service.
    public func makeRequest(from coordinate: Coordinate) throws -> URLRequest {
        let request = NearbyPlacesRequest(
            center: coordinate, radiusMeters: radiusMeters, limit: limit, box: box, filter: filter,
            content: PlaceContent(properties: properties, languages: languages), cursor: nil)
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
    /// Makes the `GET` request. A search text of white space alone is left out: the search field was cleared.
    ///
    /// - Throws: `RequestError.invalidBaseURL`.
    func urlRequest(baseURL: URL) throws(RequestError) -> URLRequest {
        var request = self
        if filter.searchText?.allSatisfy(\.isWhitespace) == true { request.filter.searchText = nil }
        return try URLRequest.get(EndpointPath.locations, request.encodedQuery, baseURL: baseURL)
    }
}

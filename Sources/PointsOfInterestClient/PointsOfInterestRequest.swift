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

    /// Makes a request for the service at a URL.
    public init(baseURL: URL, radius: Double? = nil, limit: Int? = nil) {
        self.baseURL = baseURL
        self.radius = radius
        self.limit = limit
    }

    /// Makes the `GET` request for the places around a coordinate.
    ///
    /// - Throws: `RequestError.invalidBaseURL`. What the options may be is the service's to check.
    public func makeRequest(from coordinate: Coordinate) throws -> URLRequest {
        let request = LocationsRequest(center: coordinate, radiusMeters: radius, limit: limit)
        return try URLRequest.get(EndpointPath.locations, request.encode(), baseURL: baseURL)
    }

    /// Reads the places of an answer.
    ///
    /// - Throws: `RequestError.undecodableBody`.
    public func parseResponse(data: Data) throws -> [PointOfInterest] {
        do {
            return try JSONDecoder().decode([PointOfInterest].self, from: data)
        } catch {
            throw RequestError.undecodableBody(reason: String(describing: error))
        }
    }
}

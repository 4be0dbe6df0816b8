import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `GET /locations/{id}`: asks for one point of interest.
public struct PlaceEndpoint: APIRequest, Hashable {
    /// Where the service is, with a path prefix if it has one; a query or a fragment is not used.
    public var baseURL: URL

    /// Makes a request for the service at a URL.
    public init(baseURL: URL) {
        self.baseURL = baseURL
    }

    /// Makes the `GET` request for a place.
    ///
    /// - Throws: `RequestError.invalidBaseURL`.
    public func makeRequest(from request: PlaceRequest) throws -> URLRequest {
        try URLRequest.get(request.path, request.encode(), baseURL: baseURL)
    }

    /// Reads the place.
    ///
    /// - Throws: `RequestError.undecodableBody`.
    public func parseResponse(data: Data) throws -> PointOfInterest {
        try PointOfInterest.decode(body: data)
    }
}

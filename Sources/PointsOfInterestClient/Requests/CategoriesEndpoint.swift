import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `GET /categories`: asks for every category with its number of places.
public struct CategoriesEndpoint: APIRequest, Hashable {
    /// Where the service is, with a path prefix if it has one; a query or a fragment is not used.
    public var baseURL: URL

    /// Makes a request for the service at a URL.
    public init(baseURL: URL) {
        self.baseURL = baseURL
    }

    /// Makes the `GET` request.
    ///
    /// - Throws: `RequestError.invalidBaseURL`.
    public func makeRequest(from request: CategoriesRequest) throws -> URLRequest {
        try URLRequest.get(EndpointPath.categories, [], baseURL: baseURL)
    }

    /// Reads the categories.
    ///
    /// - Throws: `RequestError.undecodableBody`.
    public func parseResponse(data: Data) throws -> [CategoryCount] {
        try [CategoryCount].decode(body: data)
    }
}

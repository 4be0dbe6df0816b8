import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `POST /events`: sends a batch of events, once; `EventUploader` sends what waits in a queue, until it is there.
public struct EventsEndpoint: APIRequest, Hashable {
    /// Where the service is, with a path prefix if it has one; a query or a fragment is not used.
    public var baseURL: URL

    /// Makes a request for the service at a URL.
    public init(baseURL: URL) {
        self.baseURL = baseURL
    }

    /// Makes the `POST` request for a batch.
    ///
    /// - Throws: `RequestError.invalidBaseURL`.
    public func makeRequest(from request: EventsRequest) throws -> URLRequest {
        try makeRequest(body: request.encode())
    }

    /// Makes the `POST` request for a batch that is JSON already.
    func makeRequest(body: [UInt8]) throws(RequestError) -> URLRequest {
        var request = try URLRequest.get(EndpointPath.events, [], baseURL: baseURL)
        request.httpMethod = "POST"
        request.setValue(MediaType.json, forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(body)
        return request
    }

    /// Reads what the service did with the batch.
    ///
    /// - Throws: `RequestError.undecodableBody`.
    public func parseResponse(data: Data) throws -> EventsResponse {
        try EventsResponse.decode(body: data)
    }
}

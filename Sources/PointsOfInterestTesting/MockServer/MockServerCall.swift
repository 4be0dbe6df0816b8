import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request to the mock itself, none of the service's.
struct MockServerCall: APIRequest {
    /// What such a request consists of.
    struct Parts: Sendable {
        let method: String
        let path: String
        let query: [URLQueryItem]
        let body: Data?

        init(_ method: String, _ path: String = "", query: [URLQueryItem] = [], body: Data? = nil) {
            self.method = method
            self.path = path
            self.query = query
            self.body = body
        }
    }

    /// The session's URL.
    let baseURL: URL

    func makeRequest(from parts: Parts) throws -> URLRequest {
        var url = baseURL
        if !parts.path.isEmpty { url.append(path: parts.path) }
        if !parts.query.isEmpty { url.append(queryItems: parts.query) }
        // Longer than the mock lets anybody wait.
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 90)
        request.httpMethod = parts.method
        request.httpBody = parts.body
        if parts.body != nil { request.setValue(MediaType.json, forHTTPHeaderField: "Content-Type") }
        return request
    }

    func parseResponse(data: Data) throws -> Data { data }
}

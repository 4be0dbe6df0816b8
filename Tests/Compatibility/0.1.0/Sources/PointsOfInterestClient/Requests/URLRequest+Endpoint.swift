import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLRequest {
    /// A `GET` request for an endpoint below a base URL.
    ///
    /// - Throws: `RequestError.invalidBaseURL` for one that is not absolute, not HTTP or without a host.
    static func get(_ path: String, _ query: [QueryItem], baseURL: URL) throws(RequestError) -> URLRequest {
        guard var components = URLComponents(url: baseURL, resolvingAgainstBaseURL: true),
            ["http", "https"].contains(components.scheme?.lowercased()), components.host?.isEmpty == false
        else { throw .invalidBaseURL }
        var prefix = components.percentEncodedPath
        while prefix.hasSuffix("/") { prefix.removeLast() }
        components.percentEncodedPath = prefix + path
        // Not `queryItems`, which leaves a `+` as it is: servers read that as a space.
        components.percentEncodedQuery = query.isEmpty ? nil : query.percentEncodedQuery
        components.fragment = nil
        guard let url = components.url else { throw .invalidBaseURL }
        return get(url)
    }

    /// A `GET` request for a URL of the service.
    static func get(_ url: URL) -> URLRequest {
        // `URLCache` differs by platform, and an answer out of it would tell distances of a moment ago.
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        request.setValue(MediaType.json, forHTTPHeaderField: "Accept")
        return request
    }
}

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `GET /locations`: asks for a page of points of interest, and learns where the next one is.
public struct NearbyPlacesEndpoint: APIRequest, Hashable {
    /// Which page to ask for.
    public enum Page: Hashable, Sendable {
        /// The one that a request describes.
        case first(NearbyPlacesRequest)
        /// One that an answer has linked to.
        case linked(URL)
    }

    /// Where the service is, with a path prefix if it has one; a query or a fragment is not used.
    public var baseURL: URL

    /// Makes a request for the service at a URL.
    public init(baseURL: URL) {
        self.baseURL = baseURL
    }

    /// Makes the `GET` request for a page.
    ///
    /// - Throws: `RequestError.invalidBaseURL`, also for a linked page that is not on the service's host: what
    ///   an app adds to each request, a key for instance, goes nowhere else.
    public func makeRequest(from page: Page) throws -> URLRequest {
        switch page {
        case .first(let request):
            return try URLRequest.get(EndpointPath.locations, request.encode(), baseURL: baseURL)
        case .linked(let url):
            guard url.isOfService(at: baseURL) else { throw RequestError.invalidBaseURL }
            return URLRequest.get(url)
        }
    }

    /// Reads the places of an answer, which then has no next page.
    ///
    /// - Throws: `RequestError.undecodableBody`.
    public func parseResponse(data: Data) throws -> PlacesPage {
        PlacesPage(places: try [PointOfInterest].decode(body: data), next: nil)
    }

    /// Reads the places of an answer and the link to the next page.
    ///
    /// - Throws: `RequestError.undecodableBody`, also for a link that leads to another host.
    public func parseResponse(data: Data, head: ResponseHead) throws -> PlacesPage {
        PlacesPage(places: try [PointOfInterest].decode(body: data), next: try next(head))
    }

    private func next(_ head: ResponseHead) throws(RequestError) -> URL? {
        guard let field = head.value(forField: "Link"), let target = LinkHeader.target(of: "next", in: field)
        else { return nil }
        // Against the URL that answered (RFC 8288, section 3.2), which may be one that the request was
        // redirected to.
        guard let url = URL(string: target, relativeTo: head.url ?? baseURL)?.absoluteURL,
            url.isOfService(at: baseURL)
        else { throw .undecodableBody(reason: "the next page is not on the service's host") }
        return url
    }
}

/// A page of points of interest.
public struct PlacesPage: Hashable, Sendable {
    /// The places, nearest first.
    public let places: [PointOfInterest]
    /// Where the next page is; nil for the last.
    public let next: URL?

    /// Makes a page.
    public init(places: [PointOfInterest], next: URL?) {
        self.places = places
        self.next = next
    }
}

extension URL {
    /// Whether scheme, host and port are the service's (RFC 6454, section 5). Where the service redirects from
    /// HTTP's own port to HTTPS's, that counts too.
    fileprivate func isOfService(at baseURL: URL) -> Bool {
        func port(_ url: URL) -> Int { url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80) }
        let own = (scheme: baseURL.absoluteURL.scheme?.lowercased(), port: port(baseURL.absoluteURL))
        let new = (scheme: scheme?.lowercased(), port: port(self))
        guard let host, host.lowercased() == baseURL.absoluteURL.host?.lowercased() else { return false }
        return new == own || (own == ("http", 80) && new == ("https", 443))
    }
}

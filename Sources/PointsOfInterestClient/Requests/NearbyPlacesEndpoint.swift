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

/// The field `Link`: comma-separated targets in angle brackets with parameters (RFC 8288, section 3).
enum LinkHeader {
    /// The target of the first link with a relation; nil where there is none, or the field is malformed before it.
    static func target(of relation: String, in field: String) -> String? {
        var rest = field[...]
        while let link = takeLink(&rest) {
            // Said of another resource than the one that answered (RFC 8288, section 3.2).
            if link.parameters.contains(where: { $0.name == "anchor" }) { continue }
            // Further ones of the same link are ignored (RFC 8288, section 3.3).
            let relations = link.parameters.first { $0.name == "rel" }?.value ?? ""
            if relations.split(separator: " ").contains(where: { $0.lowercased() == relation }) {
                return link.target
            }
        }
        return nil
    }

    private struct Link {
        let target: String
        var parameters: [(name: String, value: String)] = []
    }

    private static func takeLink(_ rest: inout Substring) -> Link? {
        rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
        guard rest.first == "<", let end = rest.firstIndex(of: ">") else { return nil }
        var link = Link(target: String(rest[rest.index(after: rest.startIndex)..<end]))
        rest = rest[rest.index(after: end)...]
        while true {
            skipSpace(&rest)
            guard rest.first == ";" else { return link }
            rest.removeFirst()
            skipSpace(&rest)
            let name = rest.prefix { !" \t=;,\"".contains($0) }
            rest = rest[name.endIndex...]
            skipSpace(&rest)
            guard rest.first == "=" else {
                link.parameters.append((name.lowercased(), ""))
                continue
            }
            rest.removeFirst()
            skipSpace(&rest)
            guard let value = takeValue(&rest) else { return nil }
            link.parameters.append((name.lowercased(), value))
        }
    }

    /// A token or a quoted string.
    private static func takeValue(_ rest: inout Substring) -> String? {
        guard rest.first == "\"" else {
            let token = rest.prefix { !" \t;,".contains($0) }
            rest = rest[token.endIndex...]
            return String(token)
        }
        rest.removeFirst()
        var value = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return value
            case "\\": if let escaped = rest.popFirst() { value.append(escaped) }
            default: value.append(character)
            }
        }
        return nil
    }

    private static func skipSpace(_ rest: inout Substring) {
        rest = rest.drop { $0 == " " || $0 == "\t" }
    }
}

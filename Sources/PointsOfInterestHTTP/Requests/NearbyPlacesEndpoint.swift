import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `GET /locations`: loads a page of places, and the URL of the next one.
package struct NearbyPlacesEndpoint: APIRequest, Hashable {
    /// Which page to load.
    package enum Page: Hashable, Sendable {
        /// The first page of a request.
        case first(NearbyPlacesRequest)
        /// A page that another one has linked to.
        case linked(URL)
    }

    package var baseURL: URL

    package init(baseURL: URL) {
        self.baseURL = baseURL
    }

    /// Makes the `GET` request for a page.
    ///
    /// - Throws: `RequestError.invalidBaseURL`; `.undecodableBody` for a linked page on another host: the header fields that
    ///   an app adds, a key for instance, must not be sent there.
    package func makeRequest(from page: Page) throws -> URLRequest {
        switch page {
        case .first(let request):
            return try request.urlRequest(baseURL: baseURL)
        case .linked(let url):
            return try URLRequest.get(linked: url, baseURL: baseURL)
        }
    }

    /// Reads the places alone, without the link to the next page.
    package func parseResponse(data: Data) throws -> PlacesPage {
        PlacesPage(places: try [PointOfInterest].decode(body: data), next: nil)
    }

    /// Reads the places and the link to the next page, which may lead anywhere: only who follows it fails.
    ///
    /// - Throws: `RequestError.undecodableBody`.
    package func parseResponse(data: Data, head: ResponseHead) throws -> PlacesPage {
        PlacesPage(
            places: try [PointOfInterest].decode(body: data), next: head.nextPage(baseURL: baseURL),
            receivedAt: head.receivedAt, center: head.url?.queryCenter, url: head.url?.absoluteURL)
    }

}

extension ResponseHead {
    /// The URL of the next page that the response links to, which may lead anywhere; nil after the last page.
    package func nextPage(baseURL: URL) -> URL? {
        guard let field = value(forField: "Link"), let target = LinkHeader.target(of: "next", in: field)
        else { return nil }
        // Relative to the URL that the response came from (RFC 8288, section 3.2), also after a redirect. What is no URL still
        // says that there is another page, which nobody can load.
        return URL(string: target, relativeTo: url ?? baseURL)?.absoluteURL ?? URL(string: "about:invalid")
    }
}

/// A page of places.
public struct PlacesPage: Hashable, Sendable {
    /// Who has found the places of a page.
    public enum Source: Hashable, Sendable {
        /// The service, now.
        case service
        /// The service, at an earlier time: the response was kept.
        case kept
        /// A region on the device, by its id: see the module `PointsOfInterestOffline`.
        case region(UUID)
    }

    /// Whether a page has all places that the service would have in it.
    public enum Coverage: Hashable, Sendable {
        /// It has, as far as the source knew them.
        case whole
        /// It may lack some: the source doesn't have all of the part of the world that was asked for.
        case partial
    }

    /// The places, nearest first.
    public let places: [PointOfInterest]
    /// The URL of the next page, as the service has named it; nil for the last one. `PlaceFinder.nextPage(after:)` follows it,
    /// if it is the service's.
    public let next: URL?
    /// When these places were received, or when the service said that they haven't changed, by the device's clock; nil where
    /// that isn't known.
    public let receivedAt: Date?
    /// Where distances are measured from; nil where there is no such place, or it isn't known.
    public let center: Coordinate?
    /// Where the page came from; nil where that isn't known.
    let url: URL?
    /// Who has found the places.
    public var source = Source.service
    /// Whether these are all places that the service would have in it.
    public var coverage = Coverage.whole

    /// Makes a page.
    public init(
        places: [PointOfInterest], next: URL?, receivedAt: Date? = nil, center: Coordinate? = nil
    ) {
        self.init(places: places, next: next, receivedAt: receivedAt, center: center, url: nil)
    }

    package init(
        places: [PointOfInterest], next: URL?, receivedAt: Date? = nil, center: Coordinate?, url: URL?,
        source: Source = .service, coverage: Coverage = .whole
    ) {
        self.center = center
        self.source = source
        self.coverage = coverage
        self.places = places
        self.next = next
        self.receivedAt = receivedAt
        self.url = url
    }

    /// The page as it is shown before the service has responded: of a region as it is, else without distances, since the device
    /// may be elsewhere.
    package var shownAsKept: PlacesPage {
        if case .region = source { return self }
        var page = with(places: places.map { $0.at(distance: nil) })
        page.source = .kept
        return page
    }

    /// The same page with other places.
    package func with(places: [PointOfInterest]) -> PlacesPage {
        PlacesPage(
            places: places, next: next, receivedAt: receivedAt, center: center, url: url, source: source,
            coverage: coverage)
    }
}

extension URLRequest {
    /// Makes the `GET` request for a page that another one has linked to.
    ///
    /// - Throws: `RequestError.undecodableBody` for a page on another host.
    package static func get(linked url: URL, baseURL: URL) throws(RequestError) -> URLRequest {
        guard url.isOfService(at: baseURL) else {
            throw .undecodableBody(reason: "the next page is not on the service's host")
        }
        return get(url)
    }
}

extension URL {
    /// Whether the URL has the service's origin. If the service is at HTTP's default port, HTTPS on its default port is
    /// accepted, too: Apple's platforms go there by themselves where the host has asked for it (RFC 6797, section 8.3).
    func isOfService(at baseURL: URL) -> Bool {
        guard let own = Origin(baseURL.absoluteURL), let new = Origin(absoluteURL) else { return false }
        let isUpgrade =
            own.host == new.host && (own.scheme, own.port) == ("http", 80)
            && (new.scheme, new.port) == ("https", 443)
        return new == own || isUpgrade
    }
}

/// The header field `Link`: targets in angle brackets with parameters, separated by commas (RFC 8288, section 3).
enum LinkHeader {
    /// Returns the target of the first link with a relation; nil where there is none, or where the field is
    /// malformed before it.
    static func target(of relation: String, in field: String) -> String? {
        var rest = field[...]
        while let link = takeLink(&rest) {
            // With an anchor, the link is not about this resource (RFC 8288, section 3.2).
            if link.parameters.contains(where: { $0.name == "anchor" }) { continue }
            // Only the first `rel` of a link counts (RFC 8288, section 3.3).
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

    /// Reads a token or a quoted string.
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

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `GET /locations/{id}`: loads one place.
package struct PlaceEndpoint: APIRequest, Hashable {
    package var baseURL: URL

    package init(baseURL: URL) {
        self.baseURL = baseURL
    }

    package func makeRequest(from request: PlaceRequest) throws -> URLRequest {
        try URLRequest.get(request.path, request.encodedQuery, baseURL: baseURL)
    }

    package func parseResponse(data: Data) throws -> PointOfInterest {
        try PointOfInterest.decode(body: data)
    }
}

/// `GET /locations/clusters`: loads how many places are in each cell of a map.
package struct ClustersEndpoint: APIRequest, Hashable {
    package var baseURL: URL

    package init(baseURL: URL) {
        self.baseURL = baseURL
    }

    package func makeRequest(from request: ClustersRequest) throws -> URLRequest {
        try URLRequest.get(EndpointPath.clusters, request.encodedQuery, baseURL: baseURL)
    }

    package func parseResponse(data: Data) throws -> PlaceClusters {
        try PlaceClusters.decode(body: data)
    }
}

/// `GET /categories`: loads categories with their numbers of places.
package struct CategoriesEndpoint: APIRequest, Hashable {
    package var baseURL: URL

    package init(baseURL: URL) {
        self.baseURL = baseURL
    }

    package func makeRequest(from request: CategoriesRequest) throws -> URLRequest {
        try URLRequest.get(EndpointPath.categories, request.encodedQuery, baseURL: baseURL)
    }

    package func parseResponse(data: Data) throws -> [CategoryCount] {
        try [CategoryCount].decode(body: data)
    }
}

/// `GET /attributions`: loads every dataset that places came from.
package struct AttributionsEndpoint: APIRequest, Hashable {
    package var baseURL: URL

    package init(baseURL: URL) {
        self.baseURL = baseURL
    }

    package func makeRequest(from request: Void) throws -> URLRequest {
        try URLRequest.get(EndpointPath.attributions, baseURL: baseURL)
    }

    package func parseResponse(data: Data) throws -> [Attribution] {
        try [Attribution].decode(body: data)
    }
}

/// `POST /events`: sends a batch of events.
package struct EventsEndpoint: APIRequest, Hashable {
    package var baseURL: URL

    package init(baseURL: URL) {
        self.baseURL = baseURL
    }

    package func makeRequest(from request: EventsRequest) throws -> URLRequest {
        try makeRequest(body: request.encode())
    }

    /// Makes the request for a batch that is already JSON.
    package func makeRequest(body: [UInt8]) throws(RequestError) -> URLRequest {
        var request = try URLRequest.get(EndpointPath.events, baseURL: baseURL)
        request.httpMethod = "POST"
        request.setValue(MediaType.json, forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(body)
        return request
    }

    package func parseResponse(data: Data) throws -> EventsResponse {
        try EventsResponse.decode(body: data)
    }
}

/// `POST /reports`: sends a report of what is wrong with a place.
package struct ReportsEndpoint: APIRequest, Hashable {
    package var baseURL: URL

    package init(baseURL: URL) {
        self.baseURL = baseURL
    }

    package func makeRequest(from report: PlaceReport) throws -> URLRequest {
        try makeRequest(body: report.json)
    }

    /// Makes the request for a report that is already JSON.
    package func makeRequest(body: [UInt8]) throws(RequestError) -> URLRequest {
        var request = try URLRequest.get(EndpointPath.reports, baseURL: baseURL)
        request.httpMethod = "POST"
        request.setValue(MediaType.json, forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(body)
        return request
    }

    package func parseResponse(data: Data) throws(RequestError) -> PlaceReportReceipt {
        do {
            return try JSONDecoder().decode(PlaceReportReceipt.self, from: data)
        } catch {
            throw .undecodableBody(reason: "the response to a report has no id")
        }
    }
}

extension PlaceReportReceipt {
    /// Checks that the response is for the report that was sent: one of another server, such as the login page of a network,
    /// doesn't mean that anything is stored.
    ///
    /// - Throws: `RequestError.undecodableBody`.
    package func check(_ id: UUID) throws(RequestError) {
        guard self.id == id else {
            throw .undecodableBody(reason: "the response is for another report than the one that was sent")
        }
    }
}

extension EventsResponse {
    /// Checks that the response counts this many events. A response of another server, such as the login page of a
    /// network, doesn't mean that anything is stored.
    ///
    /// - Throws: `RequestError.undecodableBody`.
    package func checkSum(_ eventCount: Int) throws(RequestError) {
        // Not by their sum, which could overflow.
        guard accepted >= 0, duplicates >= 0, accepted <= eventCount, duplicates == eventCount - accepted
        else {
            throw .undecodableBody(
                reason: "\(eventCount) events were sent, \(accepted) and \(duplicates) acknowledged")
        }
    }
}

/// `GET /livez` and `GET /readyz`: asks for the service's health.
package struct HealthEndpoint: APIRequest, Hashable {
    /// What to ask.
    package enum Check: Hashable, Sendable {
        /// Whether the process is alive; the database isn't checked.
        case liveness
        /// Whether the process takes requests.
        case readiness
    }

    package var baseURL: URL

    package init(baseURL: URL) {
        self.baseURL = baseURL
    }

    package func makeRequest(from check: Check) throws -> URLRequest {
        let path = check == .liveness ? EndpointPath.livez : EndpointPath.readyz
        return try URLRequest.get(path, baseURL: baseURL)
    }

    package func parseResponse(data: Data) throws -> HealthReport {
        try HealthReport.decode(body: data)
    }
}

/// What the service says about its health.
public struct HealthReport: Hashable, Sendable, Decodable {
    private enum CodingKeys: String, CodingKey {
        case status, database, eventsDatabase
    }

    /// `alive` or `ready`.
    public let status: String
    /// `reachable` or `unreachable`; nil where the check doesn't tell.
    public let database: String?
    /// The same for the database of events; nil where both are one database, or the check doesn't tell.
    public let eventsDatabase: String?

    /// Makes a report.
    public init(status: String, database: String? = nil, eventsDatabase: String? = nil) {
        self.status = status
        self.database = database
        self.eventsDatabase = eventsDatabase
    }

    /// Decodes a report. Unknown fields are ignored, and a malformed state of a database is nil.
    ///
    /// - Throws: `DecodingError` where there is no status.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            status: try container.decode(String.self, forKey: .status),
            database: try? container.decodeIfPresent(String.self, forKey: .database),
            eventsDatabase: try? container.decodeIfPresent(String.self, forKey: .eventsDatabase))
    }
}

// MARK: - Which endpoint a request is for

extension NearbyPlacesEndpoint: ServiceRequest {
    static var endpoint: ServiceEndpoint { .nearbyPlaces }
}

extension PointsOfInterestRequest: ServiceRequest {
    static var endpoint: ServiceEndpoint { .nearbyPlaces }
}

extension PlaceEndpoint: ServiceRequest {
    static var endpoint: ServiceEndpoint { .place }
}

extension ClustersEndpoint: ServiceRequest {
    static var endpoint: ServiceEndpoint { .clusters }
}

extension CategoriesEndpoint: ServiceRequest {
    static var endpoint: ServiceEndpoint { .categories }
}

extension AttributionsEndpoint: ServiceRequest {
    static var endpoint: ServiceEndpoint { .attributions }
}

extension ReportsEndpoint: ServiceRequest {
    static var endpoint: ServiceEndpoint { .reports }
}

extension EventsEndpoint: ServiceRequest {
    static var endpoint: ServiceEndpoint { .events }
}

extension HealthEndpoint: ServiceRequest {
    static var endpoint: ServiceEndpoint { .health }
}

// MARK: - What every endpoint needs

extension URLRequest {
    /// Makes a `GET` request for an endpoint below a base URL, with a query that is percent-encoded.
    ///
    /// - Throws: `RequestError.invalidBaseURL` where that is not absolute, not HTTP or without a host.
    package static func get(
        _ path: String, _ query: String = "", baseURL: URL
    ) throws(RequestError) -> URLRequest {
        guard var components = URLComponents(url: baseURL, resolvingAgainstBaseURL: true),
            ["http", "https"].contains(components.scheme?.lowercased()), components.host?.isEmpty == false
        else { throw .invalidBaseURL }
        var prefix = components.percentEncodedPath
        while prefix.hasSuffix("/") { prefix.removeLast() }
        components.percentEncodedPath = prefix + path
        // Not `queryItems`, which doesn't encode a `+`: servers read that as a space.
        components.percentEncodedQuery = query.isEmpty ? nil : query
        components.fragment = nil
        guard let url = components.url else { throw .invalidBaseURL }
        return get(url)
    }

    /// Makes a `GET` request for a URL of the service.
    package static func get(_ url: URL) -> URLRequest {
        // `URLCache` differs between platforms, and a response from it would have the distances of a moment ago.
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        request.setValue(MediaType.json, forHTTPHeaderField: "Accept")
        return request
    }
}

extension Coordinate {
    /// Returns the coordinate to send, rounded; nil decimals leave it as it is.
    func coarsened(toDecimals decimals: Int?) -> Coordinate {
        decimals.map { rounded(toDecimals: $0) } ?? self
    }
}

extension NearbyPlacesRequest {
    /// Returns the request to send: its centre is rounded, its box larger. Nil decimals leave it as it is.
    func coarsened(toDecimals decimals: Int?) -> NearbyPlacesRequest {
        guard let decimals else { return self }
        var request = self
        request.center = center?.rounded(toDecimals: decimals)
        request.box = box?.expanded(toDecimals: decimals)
        return request
    }
}

extension Decodable {
    /// Decodes the body of a response.
    ///
    /// - Throws: `RequestError.undecodableBody`; `.damagedBody` where the body isn't JSON.
    package static func decode(body: Data) throws(RequestError) -> Self {
        do {
            return try JSONDecoder().decode(Self.self, from: body)
        } catch {
            let reason = String(describing: error)
            let isJSON = (try? JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed)) != nil
            throw isJSON ? .undecodableBody(reason: reason) : .damagedBody(reason: reason)
        }
    }
}

extension Sequence {
    /// The elements in their order, of those with the same identity only the first.
    package func uniqued<Identity: Hashable>(by identity: (Element) -> Identity) -> [Element] {
        var seen: Set<Identity> = []
        return filter { seen.insert(identity($0)).inserted }
    }
}

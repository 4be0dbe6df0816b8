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

/// `GET /livez` and `GET /readyz`: asks how the service is.
public struct HealthEndpoint: APIRequest, Hashable {
    /// What to ask.
    public enum Check: Hashable, Sendable, CaseIterable {
        /// Whether the process turns; the database is not asked.
        case liveness
        /// Whether the process takes requests.
        case readiness
    }

    /// Where the service is, with a path prefix if it has one; a query or a fragment is not used.
    public var baseURL: URL

    /// Makes a request for the service at a URL.
    public init(baseURL: URL) {
        self.baseURL = baseURL
    }

    /// Makes the `GET` request for a check.
    ///
    /// - Throws: `RequestError.invalidBaseURL`.
    public func makeRequest(from check: Check) throws -> URLRequest {
        let path = check == .liveness ? EndpointPath.livez : EndpointPath.readyz
        return try URLRequest.get(path, [], baseURL: baseURL)
    }

    /// Reads the report.
    ///
    /// - Throws: `RequestError.undecodableBody`.
    public func parseResponse(data: Data) throws -> HealthReport {
        try HealthReport.decode(body: data)
    }
}

/// What the service tells of itself.
public struct HealthReport: Hashable, Sendable, Decodable {
    private enum CodingKeys: String, CodingKey {
        case status, database, eventsDatabase
    }

    /// `alive` or `ready`.
    public let status: String
    /// `reachable` or `unreachable`; nil where the check doesn't tell.
    public let database: String?
    /// The same of the events' database; nil where that is the same, or the check doesn't tell.
    public let eventsDatabase: String?

    /// Makes a report.
    public init(status: String, database: String? = nil, eventsDatabase: String? = nil) {
        self.status = status
        self.database = database
        self.eventsDatabase = eventsDatabase
    }

    /// Decodes a report; unknown fields are ignored, and a malformed state of a database is nil.
    ///
    /// - Throws: `DecodingError` if there is no status.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            status: try container.decode(String.self, forKey: .status),
            database: try? container.decodeIfPresent(String.self, forKey: .database),
            eventsDatabase: try? container.decodeIfPresent(String.self, forKey: .eventsDatabase))
    }
}

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

extension Decodable {
    /// Decodes a body.
    ///
    /// - Throws: `RequestError.undecodableBody`.
    static func decode(body: Data) throws(RequestError) -> Self {
        do {
            return try JSONDecoder().decode(Self.self, from: body)
        } catch {
            throw .undecodableBody(reason: String(describing: error))
        }
    }
}

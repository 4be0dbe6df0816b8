import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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

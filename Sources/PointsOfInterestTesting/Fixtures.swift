import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension PointOfInterest {
    /// Makes a place. A test passes only what it is about.
    public static func fixture(
        id: Int = 1, name: String = "The Tech Interactive", category: String = "museum",
        latitude: Double = 37.3316, longitude: Double = -121.8902, featured: Bool = false,
        distance: Double? = 266.8, address: String? = nil, website: String? = nil, source: Source? = nil,
        importance: Int = 0, properties: JSONValue.Object? = nil, mergedFrom: [Int] = [],
        operatingStatus: OperatingStatus? = nil, version: Int? = nil, updatedAt: Date? = nil
    ) -> PointOfInterest {
        PointOfInterest(
            id: id, name: name, category: category, latitude: latitude, longitude: longitude,
            featured: featured, distance: distance, address: address, website: website, source: source,
            importance: importance, properties: properties, mergedFrom: mergedFrom,
            operatingStatus: operatingStatus, version: version, updatedAt: updatedAt)
    }
}

extension [PointOfInterest] {
    /// Makes places that are numbered from 1, each 100 m farther away than the one before.
    public static func fixtures(_ count: Int, featured: Bool = false) -> [PointOfInterest] {
        (0..<count).map { index in
            .fixture(
                id: index + 1, name: "Place \(index + 1)", featured: featured,
                distance: Double(index + 1) * 100)
        }
    }
}

extension LocationFix {
    /// Makes a fix, by default an accurate one in the middle of San José.
    public static func fixture(
        latitude: Double = 37.3293, longitude: Double = -121.8893, horizontalAccuracy: Double = 10
    ) -> LocationFix {
        LocationFix(latitude: latitude, longitude: longitude, horizontalAccuracy: horizontalAccuracy)
    }
}

extension LocationFailure {
    /// Makes a failure, by default that of a location manager that found no fix.
    public static func fixture(
        domain: String = "kCLErrorDomain", code: Int = 0, reason: String = "no fix", isDenied: Bool = false
    ) -> LocationFailure {
        LocationFailure(domain: domain, code: code, reason: reason, isDenied: isDenied)
    }
}

extension HTTPURLResponse {
    /// Makes the head of a response to a request.
    ///
    /// - Throws: `URLError` where the request has no URL, or Foundation doesn't accept the parts.
    public static func fixture(
        for request: URLRequest, status: Int = 200,
        headers: [String: String] = ["Content-Type": "application/json"]
    ) throws -> HTTPURLResponse {
        guard let url = request.url,
            let response = HTTPURLResponse(
                url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
        else { throw URLError(.badServerResponse) }
        return response
    }
}

extension MockURLProtocol {
    /// Makes a response with these places.
    ///
    /// - Throws: what `HTTPURLResponse.fixture` throws.
    public static func response(_ places: [PointOfInterest], to request: URLRequest) throws -> (
        HTTPURLResponse, Data
    ) {
        (try .fixture(for: request), try JSONEncoder().encode(places))
    }

    /// Makes a response to a batch of events.
    ///
    /// - Throws: what `HTTPURLResponse.fixture` throws.
    public static func response(_ outcome: EventsResponse, to request: URLRequest) throws -> (
        HTTPURLResponse, Data
    ) {
        (try .fixture(for: request), Data(outcome.json))
    }

    /// Makes a response with this problem and its status.
    ///
    /// - Throws: what `HTTPURLResponse.fixture` throws.
    public static func response(_ problem: Problem, to request: URLRequest) throws -> (HTTPURLResponse, Data)
    {
        let headers = ["Content-Type": MediaType.problemJSON]
        return (
            try .fixture(for: request, status: problem.status, headers: headers), Data(problem.json)
        )
    }
}

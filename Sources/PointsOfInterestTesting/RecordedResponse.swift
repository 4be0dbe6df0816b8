import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A recorded response of each endpoint, from a service with the seeded data.
///
/// Each is a file in `RecordedResponses` that is named after its case. `scripts/record/record-responses` records them again,
/// and the contract tests fail where they are out of date.
public enum RecordedResponse: String, CaseIterable, Sendable {
    /// The three places nearest to a centre, with a `Link` to more.
    case locations
    /// The same as GeoJSON.
    case locationsGeoJSON = "locations-geojson"
    /// The clusters of a map.
    case clusters
    /// One place by its id, with its distance.
    case location
    /// The categories.
    case categories
    /// The datasets that places came from.
    case attributions
    /// The process is alive.
    case livez
    /// The process takes requests.
    case readyz
    /// The problem of an id that no place has.
    case locationNotFound = "location-not-found"
    /// The problem of parameters that are wrong.
    case invalidParameters = "invalid-parameters"

    /// Returns the request and the response.
    ///
    /// - Throws: an error where the file is missing or malformed, which is a defect of this package.
    public func exchange() throws -> RecordedExchange {
        let name = "RecordedResponses/\(rawValue)"
        guard let url = Bundle.module.url(forResource: name, withExtension: "http") else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name])
        }
        return try RecordedExchange(text: String(contentsOf: url, encoding: .utf8))
    }

    /// Returns this recording as the response to a request.
    ///
    /// - Throws: what `exchange()` throws.
    public func response(to request: URLRequest) throws -> (HTTPURLResponse, Data) {
        let exchange = try exchange()
        return (
            try .fixture(for: request, status: exchange.status, headers: exchange.responseHeaders),
            exchange.body
        )
    }

    /// Returns the recorded response of the request's endpoint. It is a handler for `MockURLProtocol`.
    ///
    /// The end of the path determines the endpoint; the query is ignored. An unknown path gets the response to an id
    /// that no place has.
    ///
    /// - Throws: what `exchange()` throws.
    public static func response(to request: URLRequest) throws -> (HTTPURLResponse, Data) {
        try recording(for: request).response(to: request)
    }

    private static func recording(for request: URLRequest) -> RecordedResponse {
        let segments = request.url?.pathComponents ?? []
        let accept = request.value(forHTTPHeaderField: "Accept") ?? MediaType.json
        switch "/" + (segments.last ?? "") {
        case EndpointPath.locations:
            return accept.contains(MediaType.geoJSON) ? .locationsGeoJSON : .locations
        case EndpointPath.categories: return .categories
        case EndpointPath.attributions: return .attributions
        case EndpointPath.livez: return .livez
        case EndpointPath.readyz: return .readyz
        case "/clusters": return .clusters
        default:
            let isLocation = segments.dropLast().last.map { "/" + $0 == EndpointPath.locations } ?? false
            return isLocation ? .location : .locationNotFound
        }
    }
}

/// A request and its response, as they are recorded in a file:
///
///     GET /livez
///     Accept: application/json
///
///     200
///     Content-Type: application/json
///
///     {"status":"ok"}
public struct RecordedExchange: Hashable, Sendable {
    /// Why a file is not an exchange.
    public enum Fault: Error, Hashable, Sendable {
        /// This part is missing.
        case missing(String)
        /// This line isn't a header.
        case notAHeader(String)
    }

    /// The request's method.
    public var method: String
    /// The request's path below any prefix, and its query.
    public var target: String
    /// The request's headers.
    public var requestHeaders: [String: String]
    /// The response's status.
    public var status: Int
    /// The response's headers, without those that differ from one response to the next.
    public var responseHeaders: [String: String]
    /// The response's body.
    public var body: Data

    /// Reads the text of a file. The line feed at its end isn't part of the body.
    ///
    /// - Throws: `RecordedExchange.Fault`.
    public init(text: String) throws {
        var rest = text[...]
        let request = Self.head(of: &rest)
        let words = (request.first ?? "").split(separator: " ")
        guard words.count == 2 else { throw Fault.missing("request line") }
        let response = Self.head(of: &rest)
        guard let status = response.first.flatMap({ Int($0) }) else { throw Fault.missing("status") }
        method = String(words[0])
        target = String(words[1])
        requestHeaders = try Self.headers(request.dropFirst())
        self.status = status
        responseHeaders = try Self.headers(response.dropFirst())
        body = Data((rest.hasSuffix("\n") ? rest.dropLast() : rest).utf8)
    }

    /// Returns the lines before the next empty one, and removes them.
    private static func head(of rest: inout Substring) -> [Substring] {
        var lines: [Substring] = []
        while !rest.isEmpty {
            let end = rest.firstIndex(of: "\n") ?? rest.endIndex
            let line = rest[..<end]
            rest = rest[end...].dropFirst()
            if line.isEmpty { break }
            lines.append(line)
        }
        return lines
    }

    private static func headers(_ lines: some Sequence<Substring>) throws -> [String: String] {
        var headers: [String: String] = [:]
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { throw Fault.notAHeader(String(line)) }
            headers[String(line[..<colon])] = line[colon...].dropFirst().trimmingCharacters(in: .whitespaces)
        }
        return headers
    }
}

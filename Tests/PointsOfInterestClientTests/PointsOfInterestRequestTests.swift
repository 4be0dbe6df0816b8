import Foundation
@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A points of interest request")
struct PointsOfInterestRequestTests {
    private func url(_ text: String) throws -> URL {
        try #require(URL(string: text))
    }

    private func madeURL(
        base: String, latitude: Double = 37.3293, longitude: Double = -121.8893, radius: Double? = nil,
        limit: Int? = nil
    ) throws -> String? {
        let request = PointsOfInterestRequest(baseURL: try url(base), radiusMeters: radius, limit: limit)
        let coordinate = try Coordinate(latitude: latitude, longitude: longitude)
        return try request.makeRequest(from: coordinate).url?.absoluteString
    }

    @Test("A request without options has only its coordinate")
    func asksForACoordinate() throws {
        let request = PointsOfInterestRequest(baseURL: try url("https://poi.example"))
        let made = try request.makeRequest(from: Coordinate(latitude: 37.3293, longitude: -121.8893))
        #expect(made.url?.query == "lat=37.3293&long=-121.8893")
        #expect(made.url?.absoluteString == "https://poi.example/locations?lat=37.3293&long=-121.8893")
        #expect(made.httpMethod == "GET")
        #expect(made.httpBody == nil)
        #expect(made.cachePolicy == .reloadIgnoringLocalCacheData)
        #expect(made.value(forHTTPHeaderField: "Accept") == "application/json")
    }

    @Test("The options follow the coordinate")
    func saysItsOptions() throws {
        #expect(
            try madeURL(base: "http://h", radius: 99.5, limit: 1)
                == "http://h/locations?lat=37.3293&long=-121.8893&radius=99.5&limit=1")
        var request = PointsOfInterestRequest(baseURL: try url("http://h"), coordinateDecimals: nil)
        request.radiusMeters = 2e21
        request.limit = 100
        let made = try request.makeRequest(from: Coordinate(latitude: -90, longitude: 5e-12))
        #expect(made.url?.query(percentEncoded: true) == "lat=-90&long=5e-12&radius=2e%2B21&limit=100")
        let box = try #require(BoundingBox(west: 170, south: -1, east: -170, north: 1))
        let all = PointsOfInterestRequest(
            baseURL: try url("http://h"), limit: 3, box: box, categories: ["museum", "cafe"],
            searchText: "café +&", featured: true)
        let query = try all.makeRequest(from: Coordinate(latitude: 1, longitude: 2))
            .url?.query(percentEncoded: true)
        #expect(
            query == """
                lat=1&long=2&limit=3&bbox=170%2C-1%2C-170%2C1&category=cafe%2Cmuseum&q=caf%C3%A9%20%2B%26\
                &featured=true
                """)
    }

    @Test("A cleared search field is no search", arguments: ["", " ", " \t\n\u{A0}"])
    func clearedSearch(text: String) throws {
        let center = try Coordinate(latitude: 1, longitude: 2)
        let one = PointsOfInterestRequest(baseURL: try url("http://h"), searchText: text)
        #expect(try one.makeRequest(from: center).url?.query == "lat=1&long=2")
        let page = NearbyPlacesEndpoint.Page.first(NearbyPlacesRequest(center: center, searchText: text))
        let other = try NearbyPlacesEndpoint(baseURL: try url("http://h")).makeRequest(from: page)
        #expect(other.url?.query == "lat=1&long=2")
    }

    @Test(
        "The URL keeps the service's address and joins the path with one slash",
        arguments: [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/locations"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/locations"),
            ("https://h/api/v1", "https://h/api/v1/locations"),
            ("https://h/api/v1//", "https://h/api/v1/locations"),
            ("https://h/a%2Fb/%C3%A9/", "https://h/a%2Fb/%C3%A9/locations"),
            ("https://h/~session/a", "https://h/~session/a/locations"),
            ("https://h/p?key=1#top", "https://h/p/locations"),
            ("https://user@[::1]:9/", "https://user@[::1]:9/locations"),
            ("HTTPS://h", "HTTPS://h/locations"),
        ])
    func keepsTheBase(base: String, expected: String) throws {
        #expect(try madeURL(base: base) == expected + "?lat=37.3293&long=-121.8893")
    }

    @Test(
        "A base URL that isn't absolute HTTP is refused",
        arguments: [
            "/locations", "poi.example", "file:///tmp", "ftp://h", "http:", "https:///x", "mailto:a@b",
        ])
    func needsAnAddress(base: String) {
        #expect(throws: RequestError.invalidBaseURL) { try madeURL(base: base) }
    }

    @Test("A relative base URL is resolved")
    func resolvesTheBase() throws {
        let base = try #require(URL(string: "v2/", relativeTo: try url("https://h/api/")))
        let made = try PointsOfInterestRequest(baseURL: base)
            .makeRequest(from: Coordinate(latitude: 1, longitude: 2))
        #expect(made.url?.absoluteString == "https://h/api/v2/locations?lat=1&long=2")
    }
}

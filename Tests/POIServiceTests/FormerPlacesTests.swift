import HTTPServer
import PointsOfInterestAPI
import Testing

@testable import POIService
@testable import Places

@Suite("Details of a place that isn't there any more")
struct FormerPlacesTests {
    private static func store(_ former: FormerPlace, atOnce: Bool) -> StubStore {
        let store = StubStore()
        store.currentDatasetID = DatasetID(high: 1, low: 2)
        store.former = [12: former]
        store.respondsAtOnce = atOnce
        return store
    }

    @Test(
        "A merged place leads to the one that it was merged into, with the same query, and whoever keeps that asks again in a minute",
        arguments: [
            ("", "public", 30, [:]), ("", "public", 600, [:]), ("?lang=de%2Cen", "public", 5, [:]),
            ("?lat=1.5&long=-2", "private", 30, [:]),
            ("", "private", 600, ["POI_API_KEYS": "abcdefghijklmnopqrst"]),
        ] as [(String, String, Int, [String: String])], [true, false])
    func merged(of row: (query: String, scope: String, age: Int, key: [String: String]), atOnce: Bool)
        async throws
    {
        var environment = row.key
        environment["POI_CACHE_PUBLIC_MAX_AGE"] = "\(row.age)s"
        environment["POI_CACHE_PRIVATE_MAX_AGE"] = "\(row.age)s"
        let site = try ServiceSite(Self.store(.merged(into: 84), atOnce: atOnce), environment: environment)
        var headers: HTTPHeaders = [.ifMatch: "\"x\"", .ifNoneMatch: "\"y\""]
        if let key = row.key.values.first { headers.add(.authorization, "Bearer \(key)") }
        for method in [HTTPMethod.get, .head] {
            let response = try await site.ask("/locations/12\(row.query)", method, headers: headers)
            #expect(response.status.code == 308 && response.body.isEmpty)
            #expect(response.headers.first(.location) == "84\(row.query)")
            #expect(response.headers.first(.cacheControl) == "\(row.scope), max-age=\(min(row.age, 60))")
            #expect(!response.headers.contains(.eTag) && !response.headers.contains(.contentType))
        }
    }

    @Test("A removed place is gone, and an unknown one was never there", arguments: [true, false])
    func removed(atOnce: Bool) async throws {
        let site = try ServiceSite(Self.store(.removed, atOnce: atOnce))
        let response = try await site.ask("/locations/12")
        #expect(response.status.code == 410 && response.headers.first(.cacheControl) == "no-store")
        #expect(try response.problem().code == .gone)
        #expect(try await site.problem("/locations/13").code == .notFound)
        // What is wrong with the request comes first.
        #expect(try await site.problem("/locations/12?x=1").code == .unknownParameter)
    }
}

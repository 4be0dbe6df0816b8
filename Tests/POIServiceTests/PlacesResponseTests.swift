import PointsOfInterestServerAPI
import BruteForce
import HTTPServer
import PointsOfInterestAPI
import Testing

@testable import POIService

@Suite("Responses with places")
struct PlacesResponseTests {
    private static let places = [
        PointOfInterest(id: 1, name: "Far", category: "park", latitude: 0, longitude: 2),
        PointOfInterest(id: 2, name: "Near", category: "cafe", latitude: 0, longitude: 1, featured: true),
    ]

    @Test("GeoJSON is a feature collection of the same places")
    func geoJSON() async throws {
        let site = try ServiceSite(FixtureStore(Self.places))
        let answer = try await site.ask(
            "/locations?lat=0&long=0&limit=1", headers: [.accept: MediaType.geoJSON])
        #expect(answer.headers.first(.contentType) == "application/geo+json")
        #expect(
            answer.text == """
                {"type":"FeatureCollection","features":[{"type":"Feature","id":2,\
                "geometry":{"type":"Point","coordinates":[1,0]},\
                "properties":{"name":"Near","category":"cafe","featured":true,"distance":111319.5}}]}
                """)
        let empty = try await ServiceSite(FixtureStore([])).ask(
            "/locations?lat=0&long=0", headers: [.accept: MediaType.geoJSON])
        #expect(empty.text == #"{"type":"FeatureCollection","features":[]}"#)
    }

    @Test("A single place is an object or a feature, with a distance if there is a centre")
    func single() async throws {
        let site = try ServiceSite(FixtureStore(Self.places))
        #expect(
            try await site.ask("/locations/2").text
                == #"{"id":2,"name":"Near","category":"cafe","latitude":0,"longitude":1,"featured":true,"#
                + #""version":0,"updatedAt":"1970-01-01T00:00:00Z"}"#)
        #expect(try await site.ask("/locations/2?lat=0&long=0").text.contains(#""distance":111319.5"#))
        let feature = try await site.ask("/locations/2", headers: [.accept: "application/geo+json"])
        #expect(feature.headers.first(.contentType) == "application/geo+json")
        #expect(feature.text.hasPrefix(#"{"type":"Feature","id":2,"#))
    }

    @Test(
        "An unknown place is 404, and so is an invalid id",
        arguments: ["3", "0", "-1", "01", "+1", "1.0", "x", "99999999999999999999", "%31%00", "1%202"])
    func noPlace(id: String) async throws {
        let answer = try await ServiceSite(FixtureStore(Self.places)).ask("/locations/\(id)")
        #expect(answer.status == (id.contains("%00") ? .badRequest : .notFound))
        #expect(answer.headers.first(.cacheControl) == "no-store")
    }

    @Test("Categories come with their counts, most frequent first")
    func categories() async throws {
        let answer = try await ServiceSite(FixtureStore(Self.places)).ask("/categories")
        #expect(answer.text == #"[{"name":"cafe","count":1},{"name":"park","count":1}]"#)
        #expect(answer.headers.first(.contentType) == "application/json")
    }

    @Test("Clusters have the places of whole cells, and the place itself where it is the only one")
    func clusters() async throws {
        let near = PointOfInterest(
            id: 3, name: "Nearer", category: "park", latitude: 0.5, longitude: 0.25,
            website: "https://a.example")
        let site = try ServiceSite(FixtureStore(Self.places + [near]))
        // At zoom 7 a cell is 0.7 degrees wide; the box touches those from 0 to 1.4 degrees east.
        #expect(
            try await site.ask("/locations/clusters?zoom=7&bbox=3,0.1,3,0.1").text
                == #"{"zoom":7,"clusters":[]}"#)
        let answer = try await site.ask("/locations/clusters?zoom=7&bbox=0.1,-0.1,1,0.1")
        #expect(
            answer.text == """
                {"zoom":7,"clusters":[\
                {"count":1,"latitude":0.5,"longitude":0.25,"bbox":[0.25,0.5,0.25,0.5],"place":\
                {"id":3,"name":"Nearer","category":"park","latitude":0.5,"longitude":0.25,"featured":false,\
                "website":"https://a.example"}},\
                {"count":1,"latitude":0,"longitude":1,"bbox":[1,0,1,0],"place":\
                {"id":2,"name":"Near","category":"cafe","latitude":0,"longitude":1,"featured":true}}]}
                """)
        #expect(answer.headers.first(.contentType) == "application/json")
        #expect(answer.headers.first(.cacheControl) == "public, max-age=60")
        let both = try await site.ask("/locations/clusters?zoom=0&bbox=1,-1,2,-1")
        #expect(
            both.text
                == #"{"zoom":0,"clusters":[{"count":2,"latitude":0,"longitude":1.5,"bbox":[1,0,2,0]}]}"#)
        let parks = try await site.ask("/locations/clusters?zoom=0&bbox=1,-1,2,-1&category=park")
        #expect(
            parks.text.contains(#""count":1,"latitude":0,"longitude":2,"bbox":[2,0,2,0],"place":{"id":1,"#))
        #expect(try await site.problem("/locations/clusters?zoom=9&bbox=0,0,90,1").code == .outOfRange)
    }

    @Test("Attributions come by name, with the licenses that the places of each have")
    func attributions() async throws {
        let sources = [("b", "CC0-1.0"), ("a", "ODbL-1.0"), ("b", "CC-BY-4.0"), ("b", "CC0-1.0")]
        let places = sources.enumerated().map { id, source in
            PointOfInterest(
                id: id + 10, name: "A", category: "park", latitude: 0, longitude: 0,
                source: .init(dataset: source.0, id: "\(id)", license: source.1))
        }
        let answer = try await ServiceSite(FixtureStore(Self.places + places)).ask("/attributions")
        #expect(
            answer.text == """
                [{"dataset":"a","license":"ODbL-1.0","places":1},\
                {"dataset":"b","license":"CC-BY-4.0 AND CC0-1.0","places":3}]
                """)
        #expect(answer.headers.first(.contentType) == "application/json")
        #expect(try await ServiceSite(FixtureStore(Self.places)).ask("/attributions").text == "[]")
    }

    @Test(
        "A request that accepts no representation gets a 406 problem",
        arguments: [
            "/locations?lat=0&long=0", "/locations/2", "/locations/clusters?zoom=0&bbox=0,0,1,1",
            "/categories", "/attributions",
        ])
    func notAcceptable(target: String) async throws {
        let answer = try await ServiceSite(FixtureStore(Self.places)).ask(
            target, headers: [.accept: "text/html"])
        #expect(answer.status == .notAcceptable)
        #expect(answer.headers.first(.contentType) == "application/problem+json")
        #expect(try answer.problem().code == .notAcceptable)
    }

    @Test("A page links to the next one, by a query only")
    func link() async throws {
        let store = StubStore()
        store.end = PagePosition(distanceMeters: 1234.5, id: 7, count: 2)
        let site = try ServiceSite(store, environment: ["POI_IGNORED_PARAMETERS": "utm_*"])
        let answer = try await site.ask("/locations?utm_source=x&q=caf%C3%A9+a&long=-1&lat=0.50&limit=2")
        let link = try #require(answer.headers.first(.link))
        #expect(link.hasPrefix("<?lat=0.5&long=-1&limit=2&q=caf%C3%A9%20a&cursor="))
        #expect(link.hasSuffix(">; rel=\"next\""))

        let target = "/locations" + link.dropFirst().prefix { $0 != ">" }
        #expect(try await site.ask(target).status == .ok)
        #expect(store.requests.last?.start == store.end)
        #expect(store.requests.last?.searchText == "café a")
        // The cursor is this query's.
        let other = target.replacing("lat=0.5", with: "lat=0.6")
        #expect(try await site.problem(other).code == .cursorMismatch)

        store.end = nil
        #expect(try await !site.ask(target).headers.contains(.link))
    }

    @Test("Responses for coordinates and search texts are private, others public, with the configured ages")
    func cacheControl() async throws {
        func cacheControl(_ target: String, _ environment: [String: String] = [:]) async throws -> String? {
            try await ServiceSite(FixtureStore(Self.places), environment: environment).ask(target)
                .headers.first(.cacheControl)
        }
        #expect(try await cacheControl("/locations?lat=0&long=0") == "private, max-age=60")
        #expect(try await cacheControl("/locations?bbox=0,0,1,1&lat=0&long=0") == "private, max-age=60")
        #expect(try await cacheControl("/locations/2?lat=0&long=0") == "private, max-age=60")
        #expect(try await cacheControl("/locations?bbox=0,0,1,1&q=pizza") == "private, max-age=60")
        for target in ["/locations?bbox=0,0,1,1", "/locations/2", "/categories", "/attributions"] {
            #expect(try await cacheControl(target) == "public, max-age=60")
            #expect(try await cacheControl(target, ["POI_CACHE_PUBLIC_MAX_AGE": "0"]) == "public, max-age=0")
        }
        let long = ["POI_CACHE_PRIVATE_MAX_AGE": "5m"]
        #expect(try await cacheControl("/locations?lat=0&long=0", long) == "private, max-age=300")
        #expect(try await cacheControl("/locations?lat=x", long) == "no-store")
    }

    @Test("Server-Timing has the database's time if there is one")
    func serverTiming() async throws {
        let store = StubStore()
        let site = try ServiceSite(store)
        #expect(try await !site.ask("/categories").headers.contains(.serverTiming))
        store.databaseDuration = .microseconds(1_023_045)
        for target in ["/categories", "/locations?lat=0&long=0"] {
            #expect(try await site.ask(target).headers.first(.serverTiming) == "db;dur=1023.045")
        }
        store.databaseDuration = .nanoseconds(7900)
        #expect(try await site.ask("/categories").headers.first(.serverTiming) == "db;dur=0.007")
        store.databaseDuration = .milliseconds(-1)
        #expect(try await site.ask("/categories").headers.first(.serverTiming) == "db;dur=0.000")
    }
}

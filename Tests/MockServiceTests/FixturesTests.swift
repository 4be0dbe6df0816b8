import Foundation
import MockService
import Places
import PointsOfInterestAPI
import Testing

@Suite("Fixtures")
struct FixturesTests {
    private func places(_ text: String) throws -> [PointOfInterest] {
        let places = try Fixtures.places(json: Array(text.utf8))
        return try places.map { place in
            var writer = JSONWriter()
            try PlaceStyle(ofDetails: .json, languages: []).write(place, distance: nil, to: &writer)
            return try JSONDecoder().decode(PointOfInterest.self, from: Data(writer.bytes))
        }
    }

    @Test("Fixtures are read from responses to GET /locations, and their distances are ignored")
    func readItems() throws {
        let places = try places(
            """
            [{"id":7,"name":"Café","category":"cafe","latitude":-90,"longitude":180,"featured":true,
              "distance":12.5,"address":"1 Main St","website":"not a URL",
              "source":{"dataset":"d","id":"i","license":"l"},"operatingStatus":"permanentlyClosed",
              "version":9007199254740991,"updatedAt":"2026-11-30T23:45:12Z"},
             {"id":8,"name":"B","category":"new_kind","latitude":0.5,"longitude":-0.5}]
            """
        )
        #expect(
            places == [
                PointOfInterest(
                    id: 7, name: "Café", category: "cafe", latitude: -90, longitude: 180, featured: true,
                    address: "1 Main St", website: "not a URL",
                    source: .init(dataset: "d", id: "i", license: "l"), operatingStatus: .permanentlyClosed,
                    version: 9_007_199_254_740_991,
                    updatedAt: try Date("2026-11-30T23:45:12Z", strategy: .iso8601)),
                PointOfInterest(
                    id: 8, name: "B", category: "new_kind", latitude: 0.5, longitude: -0.5, version: 0,
                    updatedAt: Date(timeIntervalSince1970: 0)),
            ])
    }

    @Test("Fixtures are read from GeoJSON, in which longitudes come first")
    func readFeatures() throws {
        let places = try places(
            """
            {"type":"FeatureCollection","features":[{"type":"Feature","id":7,
              "geometry":{"type":"Point","coordinates":[121,-31,8.5]},
              "properties":{"name":"A","category":"cafe","featured":true,"distance":3,
                "operatingStatus":"temporarilyClosed"}}]}
            """
        )
        #expect(
            places == [
                PointOfInterest(
                    id: 7, name: "A", category: "cafe", latitude: -31, longitude: 121, featured: true,
                    operatingStatus: .temporarilyClosed, version: 0, updatedAt: Date(timeIntervalSince1970: 0)
                )
            ])
    }

    @Test("The fixtures are the service's seed by default, and may be empty")
    func haveASeed() throws {
        let seed = try #require(Fixtures.seed.index.pinned(at: .zero))
        #expect(seed.placeCount > 200)
        #expect((1...Int64(seed.placeCount)).allSatisfy { seed.place(withID: $0) != nil })
        let none = try Fixtures(json: Array("[]".utf8))
        #expect(none.index.pinned(at: .zero)?.placeCount == 0)
    }

    private static let good = #""name":"A","category":"cafe","latitude":1,"longitude":2"#

    @Test(
        "Invalid fixtures are refused with the item and the reason",
        arguments: [
            ("", "the document is not JSON"),
            ("[{]", "the document is not JSON"),
            (#""x""#, "the document must be an array"),
            ("[1]", "[0] must be an object"),
            ("{}", "type is missing"),
            (#"{"type":"Feature"}"#, #"type must be "FeatureCollection""#),
            (#"{"type":"FeatureCollection"}"#, "features is missing"),
            (
                #"{"type":"FeatureCollection","features":[{"type":"Point"}]}"#,
                #"features[0].type must be "Feature""#
            ),
            (
                #"{"type":"FeatureCollection","features":[{"type":"Feature","id":1,"geometry":null}]}"#,
                "features[0].geometry must be an object"
            ),
            ("[{\(good)}]", "[0].id is missing"),
            (#"[{"id":0,\#(good)}]"#, "[0].id must be a whole number from 1 to 9007199254740991"),
            (#"[{"id":1.5,\#(good)}]"#, "[0].id must be a whole number from 1 to 9007199254740991"),
            (#"[{"id":"1",\#(good)}]"#, "[0].id must be a number"),
            (#"[{"id":1,\#(good)},{"id":1,\#(good)}]"#, "[1] has the id 1 of another"),
            (#"[{"id":1,\#(good),"featured":1}]"#, "[0].featured must be true or false"),
            (#"[{"id":1,\#(good),"source":{"dataset":"d"}}]"#, "[0].source.id is missing"),
            (
                #"[{"id":1,"name":"\u0007","category":"cafe","latitude":1,"longitude":2}]"#,
                "[0].name must have 1 to 200 characters, and no control characters"
            ),
            (
                #"[{"id":1,"name":"A","category":"Café","latitude":1,"longitude":2}]"#,
                "[0].category must be lower-case words joined by underscores, of at most 50 characters"
            ),
            (
                #"[{"id":1,"name":"A","category":"cafe","latitude":91,"longitude":2}]"#,
                "[0].latitude must be from -90 to 90 degrees"
            ),
            (
                #"[{"id":1,\#(good),"operatingStatus":"closed"}]"#,
                #"[0].operatingStatus must be "temporarilyClosed" or "permanentlyClosed""#
            ),
            (
                #"[{"id":1,\#(good),"version":-1}]"#,
                "[0].version must be a whole number from 0 to 9007199254740991"
            ),
            (
                #"[{"id":1,\#(good),"updatedAt":"2026-02-30T00:00:00Z"}]"#,
                "[0].updatedAt must be a time in UTC, such as 2026-11-30T23:45:12Z"
            ),
            (#"[{"id":1,\#(good)},{"id":2},{"id":3}]"#, "[1].latitude is missing (and 1 more)"),
        ])
    func areRefused(text: String, fault: String) throws {
        let error = #expect(throws: FixtureError.self) { try places(text) }
        #expect(error?.description == fault)
    }

    @Test("A misspelt member of a fixture is refused with a list of the members")
    func nameTheMembers() throws {
        let error = #expect(throws: FixtureError.self) { try places(#"[{"id":1,"nmae":"A"}]"#) }
        #expect(error?.description.hasPrefix("[0].nmae is no member; there are id, name, category") == true)
    }

    @Test("Fixtures with extreme nesting are refused")
    func areNotFollowedWithoutEnd() throws {
        for depth in [400, 100_000] {
            let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            #expect(throws: FixtureError.self) { try places(text) }
        }
    }
}

@Suite("Events in memory")
struct MemoryEventStoreTests {
    private static func event(_ number: Int64) -> StoredEvent {
        StoredEvent(
            key: StoredEvent.Key(id: UUID(), timeMicroseconds: number), userID: "u", name: "launch",
            value: [],
            isTest: false)
    }

    @Test("New events are kept in order, duplicates are counted")
    func storing() async throws {
        let store = MemoryEventStore()
        let events = (0..<5).map { Self.event($0) }
        #expect(try await store.store(events + [events[0]]) == EventsResponse(accepted: 5, duplicates: 1))
        #expect(try await store.store(events) == EventsResponse(accepted: 0, duplicates: 5))
        #expect(store.events == events)
    }

    @Test("The oldest events are forgotten beyond the bound")
    func bound() async throws {
        let store = MemoryEventStore(limit: 3)
        let events = (0..<5).map { Self.event($0) }
        #expect(try await store.store(events) == EventsResponse(accepted: 5, duplicates: 0))
        #expect(store.events == Array(events.suffix(3)))
        #expect(try await store.store(events) == EventsResponse(accepted: 2, duplicates: 3))
    }
}

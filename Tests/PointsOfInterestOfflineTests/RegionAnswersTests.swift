import BruteForce
import DifficultPlaces
import Foundation
import Geodesy
import PointsOfInterestAPI
import PointsOfInterestHTTP
import PointsOfInterestServerAPI
import Randomness
import SpatialIndex
import Testing

@testable import PointsOfInterestOffline
@testable import Places

/// What a region answers, beside what the service answers from the same places.
@Suite("A region's answers", .timeLimit(.minutes(60)))
struct RegionAnswersTests {
    /// The body that the service sends for a request.
    private static func served(
        _ request: NearbyPlacesRequest, by snapshot: IndexSnapshot
    ) throws -> [PointOfInterest] {
        let request = try NearbyPlacesRequest.decode(query: request.encodedQuery.utf8)
        let page: RankedPage
        if !request.ids.isEmpty {
            page = try #require(RankedPage(byIDs: request, in: snapshot, FormerIDs()))
        } else if request.sort == .relevance {
            let found = try #require(snapshot.search(RelevanceQuery(request, snapshot.vocabulary)))
            page = RankedPage(found, of: request, in: snapshot)
        } else {
            let ranking = try #require(Ranking(pageOf: request))
            let query = IndexQuery(
                ranking: ranking, box: request.box, filter: IndexFilter(request.filter, snapshot.vocabulary))
            page = RankedPage(try #require(snapshot.search(query)), of: request, in: snapshot)
        }
        var writer = JSONWriter()
        try PlaceStyle(.json, request.content).write(page.places, to: &writer)
        return try JSONDecoder().decode([PointOfInterest].self, from: Data(writer.bytes))
    }

    private static func request(
        around center: Coordinate, using generator: inout SeededGenerator
    ) throws -> NearbyPlacesRequest {
        func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &generator) ? value : nil }
        var request = NearbyPlacesRequest(
            center: center, radiusMeters: maybe(.random(in: 1...20_000_000, using: &generator)),
            limit: Int.random(in: 1...100, using: &generator))
        switch Int.random(in: 0..<6, using: &generator) {
        case 0:
            request.radiusMeters = nil
            request.box = BoundingBox(
                west: .random(in: -180...180, using: &generator),
                south: .random(in: -90...0, using: &generator),
                east: .random(in: -180...180, using: &generator),
                north: .random(in: 0...90, using: &generator))
            if Bool.random(using: &generator) { request.center = nil }
        case 1:
            request = NearbyPlacesRequest(ids: (0..<20).map { _ in .random(in: 1...2000, using: &generator) })
        case 2, 3:
            request = NearbyPlacesRequest(
                searchText: [
                    "alba", "cafe post", "museum", "markt", "albq nova", "京", "hauptstr", "zoo old", "xyz",
                    "tierp", "parque zool alba",
                ]
                .pick(using: &generator), center: maybe(center))
        case 4: request.searchText = ["a", "mus", "st mary", "動物", "gross"].pick(using: &generator)
        default: break
        }
        if request.ids.isEmpty {
            if Bool.random(using: &generator) {
                request.categories = Array(Sample.categories.prefix(Int.random(in: 1...2, using: &generator)))
            }
            request.featured = Int.random(in: 0..<4, using: &generator) == 0 ? true : nil
            if Int.random(in: 0..<4, using: &generator) == 0 { request.datasets = ["osm"] }
        }
        if Bool.random(using: &generator) { request.languages = ["zh-Hant-TW", "de"] }
        if Bool.random(using: &generator) { request.properties = ["kind", "deep"] }
        return request
    }

    /// So many requests, of all kinds together.
    private static let questionCount =
        ProcessInfo.processInfo.environment["POI_TEST_QUESTIONS"].flatMap { Int($0) } ?? 720

    @Test("Every page is the service's, from the first to the last", arguments: PlaceKind.allCases)
    func pages(kind: PlaceKind) async throws {
        var generator = SeededGenerator()
        let focus = Coordinate.anywhere(using: &generator)
        let places = kind.coordinates(count: 1500, around: focus, using: &generator).enumerated()
            .map { Sample.place($0 + 1, at: $1, using: &generator) }
        let labels = CategoryLabels([
            "cafe": ["de": ["Café", "Kaffeehaus"]],
            "zoo": ["de": ["Tierpark"], "es": ["Zoológico", "Parque zoológico"]],
        ])
        let fleet = Fleet(places)
        fleet.set([], labels)
        let link = Link(fleet)
        let folder = try TestFolder()
        let regions = try OfflineRegions(directory: folder.url)
        let region = OfflineRegion(name: "All", box: .world)
        try regions.add(region)
        try await regions.update(region.id, from: link.service)
        let kept = try #require(regions.places(of: region.id))
        let served = fleet.current.snapshot.labelled(labels)
        for _ in 0..<Self.questionCount / PlaceKind.allCases.count {
            let place = places.isEmpty ? focus : places.pick(using: &generator).place.position
            let center = Coordinate.difficultCenter(near: place, or: focus, using: &generator)
            let request = try Self.request(around: center, using: &generator)
            let page = try kept.page(request)
            var asked: NearbyPlacesRequest? = request
            var next: PlacesPage? = page
            var count = 0
            while let page = next, let request = asked, count < 4 {
                let expected = try Self.served(request, by: served)
                    .filter { $0.operatingStatus != .permanentlyClosed }
                #expect(page.places == expected, "\(request.encodedQuery)")
                count += 1
                next = try page.next.map(kept.page(behind:))
                asked = page.next.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: false) }
                    .flatMap { try? NearbyPlacesRequest.decode(query: ($0.percentEncodedQuery ?? "").utf8) }
            }
        }
        for stored in places.prefix(30) where stored.place.operatingStatus != .permanentlyClosed {
            let found = try kept.place(id: stored.place.id, center: nil, languages: [])
            #expect(found?.properties == stored.place.properties && found?.version == stored.place.version)
            #expect(found?.updatedAt == stored.place.updatedAt && found?.name == stored.place.name)
        }
    }

    @Test(
        "What the service would refuse is refused in the same way, and what a region doesn't have isn't answered"
    )
    func refused() async throws {
        var generator = SeededGenerator()
        let places = (1...200).map { Sample.place($0, at: .anywhere(using: &generator), using: &generator) }
        let fleet = Fleet(places)
        let folder = try TestFolder()
        let regions = try OfflineRegions(directory: folder.url)
        let box = try #require(BoundingBox(west: -60, south: -40, east: 60, north: 40))
        let region = OfflineRegion(name: "Cafés", box: box, filter: PlaceFilter(categories: ["cafe", "zoo"]))
        try regions.add(region)
        try await regions.update(region.id, from: Link(fleet).service)
        let kept = try #require(regions.places(of: region.id))
        let center = try Coordinate(latitude: 1, longitude: 2)
        for (request, parameter) in [
            (NearbyPlacesRequest(center: center, limit: 0, categories: ["cafe"]), "limit"),
            (NearbyPlacesRequest(center: center, radiusMeters: 5, box: box, categories: ["cafe"]), "radius"),
            (NearbyPlacesRequest(center: nil, categories: ["cafe"]), "lat"),
            (NearbyPlacesRequest(searchText: ""), "q"),
        ] {
            do {
                _ = try kept.page(request)
                Issue.record("\(request)")
            } catch {
                let problem = try #require((error as? RequestError)?.problem)
                #expect(problem.errors.contains { $0.parameter == parameter })
            }
        }
        #expect(throws: OfflineRegionError.notKept) { try kept.page(NearbyPlacesRequest(center: center)) }
        #expect(throws: OfflineRegionError.notKept) {
            try kept.page(NearbyPlacesRequest(center: center, categories: ["cafe", "museum"]))
        }
        // A page is whole where nothing beyond the region's edge could be in it.
        func coverage(_ request: NearbyPlacesRequest) throws -> PlacesPage.Coverage {
            try kept.page(request).coverage
        }
        #expect(try coverage(.init(center: center, radiusMeters: 4_000_000, categories: ["zoo"])) == .whole)
        #expect(try coverage(.init(center: center, radiusMeters: 4_500_000, categories: ["zoo"])) == .partial)
        #expect(try coverage(.init(center: center, limit: 1, categories: ["zoo"])) == .whole)
        #expect(try coverage(.init(center: center, limit: 100, categories: ["zoo"])) == .partial)
        let inner = try #require(BoundingBox(west: -60, south: 0, east: 0, north: 40))
        #expect(try coverage(.init(box: inner, categories: ["zoo"])) == .whole)
        let outer = try #require(BoundingBox(west: 170, south: 0, east: 0, north: 40))
        #expect(try coverage(.init(box: outer, categories: ["zoo"])) == .partial)
    }
}

extension PointOfInterest {
    var position: Coordinate { Coordinate(wrapping: latitude, longitude) }
}

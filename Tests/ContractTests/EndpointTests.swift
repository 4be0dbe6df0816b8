import Foundation
import PointsOfInterestClient
import Testing

@Suite("One place, and the categories", .timeLimit(.minutes(2)))
struct EndpointTests {
    private func center() throws -> Coordinate { try Coordinate(latitude: 37.3293, longitude: -121.8893) }

    @Test("A place by its id is the place of a list, with its distance where there is a centre")
    func place() async throws {
        let service = try await Service.client()
        let places = try await service.locations(LocationsRequest(center: try center(), limit: 5)).places
        for place in places {
            #expect(try await service.location(id: place.id, center: try center()) == place)
            let alone = try await service.location(id: place.id)
            #expect(alone.distance == nil)
            #expect(alone.name == place.name && alone.source == place.source)
        }
    }

    @Test(
        "A place that isn't there is a 404 problem", arguments: ["0", "-1", "01", "9223372036854775807", "x"])
    func noPlace(id: String) async throws {
        let problem = try #require(await Service.problem(of: "/locations/\(id)"))
        #expect(problem.status == 404)
        #expect(problem.code == .notFound)
    }

    @Test("Half a centre is refused")
    func halfCenter() async throws {
        let problem = try #require(await Service.problem(of: "/locations/1?lat=1"))
        #expect(problem.errors.map(\.parameter) == ["long"])
        #expect(problem.code == .missingParameter)
    }

    @Test("Categories come most frequent first, then by name, each once")
    func categories() async throws {
        let categories = try await Service.client().categories()
        #expect(!categories.isEmpty)
        #expect(Set(categories.map(\.name)).count == categories.count)
        let sorted = categories.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
        #expect(categories == sorted)
    }

    @Test(
        "A category has as many places as it says",
        .enabled(if: !Service.isForeign, "POI_BASE_URL names a service with data of its own"))
    func counts() async throws {
        let service = try await Service.client()
        let categories = try await service.categories()
        #expect(categories.map(\.count).reduce(0, +) == (try Seed.all().count))
        for category in categories.prefix(5) + categories.suffix(2) {
            let request = LocationsRequest(center: try center(), limit: 100, categories: [category.name])
            #expect(try await service.locations(request).places.count == category.count, "\(category.name)")
        }
    }

    @Test("A category that there never was is refused, and the nearest one named")
    func unknownCategory() async throws {
        let name = try #require(await Service.client().categories().first { $0.name.count > 4 }?.name)
        let problem = try #require(
            await Service.problem(of: "/locations?lat=1&long=2&category=\(name)x,\(name)"))
        #expect(problem.code == .unknownCategory)
        #expect(problem.errors.first?.detail.contains(name) == true)
    }
}

@Suite(
    "The seeds' names", .enabled(if: !Service.isForeign, "POI_BASE_URL names a service with data of its own"),
    .timeLimit(.minutes(2)))
struct SeedNameTests {
    private func found(_ text: String) async throws -> [String] {
        let center = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        let request = LocationsRequest(center: center, limit: 100, searchText: text)
        return try await Service.client().locations(request).places.compactMap { $0.source?.id }
    }

    @Test(
        "Case, accents and apostrophes don't matter",
        arguments: [
            ("plaza cesar chav", "plaza-de-cesar-chavez"), ("SAN JOSÉ mus art", "san-jose-museum-of-art"),
            ("childrens disc", "childrens-discovery-museum-of-san-jose"),
            ("children's disc", "childrens-discovery-museum-of-san-jose"),
            ("asis", "mission-santa-clara-de-asis"),
            ("cafe good", "good-karma-artisan-ales-and-cafe"),
        ])
    func folding(text: String, slug: String) async throws {
        #expect(try await found(text).contains(slug))
    }

    @Test("What no word begins with finds nothing", arguments: ["ntory", "zzzz", "plaza zzzz"])
    func nothing(text: String) async throws {
        #expect(try await found(text) == [])
    }
}

import PointsOfInterestClient
import Testing

/// What the seeds make known; not for a service with other data.
@Suite("The seeded places", .timeLimit(.minutes(2)))
struct SeededPlacesTests {
    private func conventionCenter() throws -> Coordinate {
        try Coordinate(latitude: 37.3293, longitude: -121.8893)
    }

    /// Centres whose near places are all far from their antipodes, where the tests' own formula holds.
    private static let centers = [
        (37.3293, -121.8893), (37.40, -121.90), (0, 0), (90, 0), (-90, 0), (89.9999, 77), (0, 179.9999),
        (-17, -179.9999), (51.4779, 0), (-33.86, 151.21), (48.85, 2.35),
    ]

    @Test(
        "Around the convention centre come exactly the seeds within a kilometre, nearest first",
        .contract(.seeded, .recorded, in: .locations, otherwise: "The list lacks a place around the corner."))
    func nearestToConventionCenter() async throws {
        let center = try conventionCenter()
        let places = try await Service.places(around: center, radius: 1000, limit: 100)
        let expected = try Seed.ranked(from: center).filter { $0.meters <= 1000 }
        #expect(places.compactMap { $0.source?.id } == expected.map(\.slug))
        #expect(places.count > 20)
        #expect(places.first?.name == "San Jose McEnery Convention Center")
    }

    @Test(
        "The nearest places and their distances are those of a scan over the seeds",
        .contract(
            .seeded, .recorded, in: .locations, otherwise: "The list shows wrong distances or a wrong order."),
        arguments: centers)
    func bruteForce(latitude: Double, longitude: Double) async throws {
        let center = try Coordinate(latitude: latitude, longitude: longitude)
        let places = try await Service.places(around: center, limit: 12)
        let expected = try Seed.ranked(from: center).prefix(12)
        #expect(places.compactMap { $0.source?.id } == expected.map(\.slug))
        for (place, seed) in zip(places, expected) {
            let distance = try #require(place.distance)
            #expect(abs(distance - seed.meters) <= 0.051, "\(seed.slug)")
        }
    }

    @Test(
        "The seed has about 150 places around San José, a dozen of them featured",
        .contract(
            .seeded, in: .locations,
            otherwise: "A newcomer's first list is short, and the featured strip is empty."))
    func extent() async throws {
        let center = try conventionCenter()
        let places = try await Service.places(around: center, radius: 20_000, limit: 100)
        #expect(places.count == 100)
        #expect((8...20).contains(places.count { $0.featured }))
        #expect(try Seed.all().count >= 200)
    }

    @Test(
        "A place has all that is known of it, letter by letter, and nothing else",
        .contract(
            .seeded, in: .locations,
            otherwise: "A name is shown with the wrong letters, or the details lack an address that is known."
        ), .needsIndex)
    func members() async throws {
        let service = try await Service.client()
        let earth = try #require(BoundingBox(west: -180, south: -90, east: 180, north: 90))
        var places: [String: PointOfInterest] = [:]
        for try await place in service.allNearbyPlacesAsSent(NearbyPlacesRequest(box: earth, limit: 100)) {
            places[place.source?.id ?? ""] = place
        }
        let seeds = try Seed.all()
        #expect(places.count == seeds.count)
        for seed in seeds {
            let slug = try #require(seed.source?.id)
            let place = try #require(places[slug], "\(slug)")
            #expect(place.differences(from: seed).filter { !$0.hasPrefix("id:") } == [], "\(slug)")
            guard seed.properties != nil else { continue }
            #expect(try await service.place(id: place.id).properties == seed.properties, "\(slug)")
        }
    }

    @Test(
        "A place has each of its names in the language that it is asked for",
        .contract(.seeded, in: .locations, otherwise: "A user reads a name in a script that isn't theirs."),
        .needsIndex)
    func names() async throws {
        let service = try await Service.client()
        let earth = try #require(BoundingBox(west: -180, south: -90, east: 180, north: 90))
        var ids: [String: Int] = [:]
        for try await place in service.allNearbyPlacesAsSent(NearbyPlacesRequest(box: earth, limit: 100)) {
            if let slug = place.source?.id { ids[slug] = place.id }
        }
        let seeds = try Seed.names()
        #expect(seeds.count >= 15)
        for (slug, names) in seeds {
            let id = try #require(ids[slug])
            for (tag, name) in names {
                let place = try await service.place(id: id, center: nil, languages: [tag])
                #expect(place.name.isExactly(name) && place.language == tag, "\(slug) in \(tag)")
            }
        }
    }

    @Test(
        "A search has what is near first, as far as it is asked to, and finds by addresses, and without a word",
        .contract(
            .seeded, in: .locations,
            otherwise: "From Tokyo, \"tower\" leads to Paris; \"eiffel tower paris\" finds nothing."),
        .needsIndex)
    func relevance() async throws {
        let tokyo = try Coordinate(latitude: 35.68, longitude: 139.76)
        for (near, first) in [(nil, "tokyo-tower"), (0, "eiffel-tower"), (1e7, "eiffel-tower")] {
            var request = NearbyPlacesRequest(searchText: "tower", center: tokyo, limit: 1)
            request.nearMeters = near
            #expect(try await Self.slugs(request) == [first], "near \(near ?? -1)")
        }
        let address = NearbyPlacesRequest(searchText: "201 s market", limit: 1)
        #expect(try await Self.slugs(address) == ["tech-interactive"])
        var without = NearbyPlacesRequest(searchText: "Eiffel QQ tower", limit: 1)
        let found = try await Service.client().nearbyPlaces(without).places
        #expect(found.map(\.leftOut) == ["QQ"])
        #expect(try await Service.geoJSONPlaces(without) == found)
        without.searchText = "the Eiffel tower"
        #expect(try await Service.client().nearbyPlaces(without).places.map(\.leftOut) == [nil])
    }

    private static func slugs(_ request: NearbyPlacesRequest) async throws -> [String?] {
        try await Service.client().nearbyPlaces(request).places.map { $0.source?.id }
    }

    @Test(
        "A radius takes in a place whose distance is less, and leaves out one whose distance is more",
        .contract(.seeded, in: .locations, otherwise: "\"Am I at a place?\" is wrong at the door."))
    func radiusBoundary() async throws {
        let center = try conventionCenter()
        for seed in try Seed.ranked(from: center).prefix(10) {
            let inside = try await Service.places(around: center, radius: seed.meters + 0.01, limit: 100)
            let outside = try await Service.places(around: center, radius: seed.meters - 0.01, limit: 100)
            #expect(inside.contains { $0.source?.id == seed.slug })
            #expect(!outside.contains { $0.source?.id == seed.slug })
        }
    }
}

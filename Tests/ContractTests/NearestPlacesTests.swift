import PointsOfInterestClient
import Testing

@Suite("The nearest places", .timeLimit(.minutes(2)))
struct NearestPlacesTests {
    private static let centers = [
        (37.3293, -121.8893), (0, 0), (90, 0), (90, 123.4), (-90, 0), (-90, -180), (0, 180), (0, -180),
        (52, 179.999999), (52, -179.999999), (-0.0, -0.0), (5e-05, -1e-300),
    ]

    @Test(
        "Any centre on Earth has a nearest place, at a distance that fits the two positions",
        .contract(.invariant, .recorded), .needs(places: 1), arguments: centers)
    func everyCenter(latitude: Double, longitude: Double) async throws {
        let center = try Coordinate(latitude: latitude, longitude: longitude)
        let places = try await Service.places(around: center, limit: 3)
        #expect(!places.isEmpty)
        for place in places {
            let distance = try #require(place.distance)
            let position = try Coordinate(latitude: place.latitude, longitude: place.longitude)
            guard let meters = Vincenty.meters(from: center, to: position) else { continue }
            #expect(abs(distance - meters) <= 0.051, "\(place)")
        }
    }

    @Test("Places come nearest first, each once", .contract(.invariant), arguments: centers)
    func order(latitude: Double, longitude: Double) async throws {
        let places = try await Service.places(
            around: try Coordinate(latitude: latitude, longitude: longitude), limit: 100)
        let distances = places.compactMap(\.distance)
        #expect(distances.count == places.count)
        #expect(distances == distances.sorted())
        #expect(distances.allSatisfy { $0 >= 0 && $0 <= NearbyPlacesRequest.maximumRadiusMeters })
        #expect(Set(places.map(\.id)).count == places.count)
    }

    @Test(
        "A longitude of -180 is the same as one of 180", .contract(.invariant, .recorded),
        arguments: [-90.0, -17, 0, 66.5, 90])
    func antimeridian(latitude: Double) async throws {
        let west = try await Service.places(around: try Coordinate(latitude: latitude, longitude: -180))
        let east = try await Service.places(around: try Coordinate(latitude: latitude, longitude: 180))
        #expect(west == east)
    }

    @Test("At a pole every longitude is the same", .contract(.invariant, .recorded), arguments: [-90.0, 90])
    func pole(latitude: Double) async throws {
        let reference = try await Service.places(around: try Coordinate(latitude: latitude, longitude: 0))
        for longitude in [-180.0, -77.7, 12.3, 180] {
            let places = try await Service.places(
                around: try Coordinate(latitude: latitude, longitude: longitude))
            #expect(places.map(\.distance) == reference.map(\.distance))
        }
    }

    @Test(
        "The places of a smaller limit are the first ones of a larger limit", .contract(.invariant),
        arguments: [1, 2, 8, 9, 20, 21, 50, 51, 99])
    func limit(limit: Int) async throws {
        let center = try await Service.center()
        let all = try await Service.places(around: center, limit: 100)
        #expect(all.count <= 100)
        #expect(try await Service.places(around: center, limit: limit) == Array(all.prefix(limit)))
    }

    @Test("A page without a limit has 20 places", .contract(.invariant, .recorded))
    func defaultLimit() async throws {
        let center = try await Service.center()
        #expect(
            try await Service.places(around: center)
                == Service.places(around: center, limit: NearbyPlacesRequest.defaultLimit))
    }

    @Test(
        "A radius leaves out what is farther away and nothing else", .contract(.invariant),
        arguments: [1e-300, 0.5, 55.5, 300, 1000, 5000, 1e6, NearbyPlacesRequest.maximumRadiusMeters])
    func radius(radius: Double) async throws {
        let center = try await Service.center()
        let all = try await Service.places(around: center, limit: 100)
        let places = try await Service.places(around: center, radius: radius, limit: 100)
        // The response has distances rounded to 0.1 m; the service compares them unrounded.
        #expect(places.allSatisfy { ($0.distance ?? .infinity) <= radius + 0.05 })
        let certain = all.prefix { ($0.distance ?? .infinity) < radius - 0.05 }
        #expect(places.starts(with: certain))
        #expect(all.starts(with: places))
    }
}

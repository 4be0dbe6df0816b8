import Foundation
import PointsOfInterestClient
import Testing

@Suite("The nearest places", .timeLimit(.minutes(2)))
struct NearestPlacesTests {
    /// The places nearest to the centre, as many as a page may have.
    private static let hundred = Task { try await Service.places(around: Service.center(), limit: 100) }

    private static let centers = [
        (37.3293, -121.8893), (0, 0), (90, 0), (90, 123.4), (-90, 0), (-90, -180), (0, 180), (0, -180),
        (52, 179.999999), (52, -179.999999), (-0.0, -0.0), (5e-05, -1e-300),
    ]

    @Test(
        "Any centre on Earth has its nearest places, nearest first, at distances that fit the positions",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "The list shows a wrong distance, or nothing at all in some part of the world."),
        .needs(places: 1), arguments: centers)
    func everyCenter(latitude: Double, longitude: Double) async throws {
        let center = try Coordinate(latitude: latitude, longitude: longitude)
        let places = try await Service.places(around: center, limit: 10)
        #expect(!places.isEmpty)
        let distances = places.compactMap(\.distance)
        #expect(distances == distances.sorted())
        #expect(distances.allSatisfy { $0 >= 0 && $0 <= NearbyPlacesRequest.maximumRadiusMeters })
        #expect(Set(places.map(\.id)).count == places.count)
        for place in places {
            let distance = try #require(place.distance)
            let position = try Coordinate(latitude: place.latitude, longitude: place.longitude)
            guard let meters = Vincenty.meters(from: center, to: position) else { continue }
            #expect(abs(distance - meters) <= 0.051, "\(place)")
        }
    }

    @Test(
        "A longitude of -180 is the same as one of 180",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "Users in Fiji get an empty list, or another one on the other side of a street."),
        arguments: [-90.0, -17, 0, 66.5, 90])
    func antimeridian(latitude: Double) async throws {
        let west = try await Service.places(around: try Coordinate(latitude: latitude, longitude: -180))
        let east = try await Service.places(around: try Coordinate(latitude: latitude, longitude: 180))
        #expect(west == east)
    }

    @Test(
        "At a pole every longitude is the same",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "A ship at the pole sees other places as it turns."), arguments: [-90.0, 90])
    func pole(latitude: Double) async throws {
        let reference = try await Service.places(around: try Coordinate(latitude: latitude, longitude: 0))
        for longitude in [-180.0, -77.7, 12.3, 180] {
            let places = try await Service.places(
                around: try Coordinate(latitude: latitude, longitude: longitude))
            #expect(places.map(\.distance) == reference.map(\.distance))
        }
    }

    @Test(
        "The places of a smaller limit are the first ones of a larger limit",
        .contract(
            .invariant, in: .locations,
            otherwise: "A short list hides a place that is nearer than those that it shows."),
        arguments: [1, 2, 20, 21, 99])
    func limit(limit: Int) async throws {
        let center = try await Service.center()
        let all = try await Self.hundred.value
        #expect(all.count <= 100)
        #expect(try await Service.places(around: center, limit: limit) == Array(all.prefix(limit)))
    }

    @Test(
        "A page without a limit has 20 places",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "The first screen of the list is short, or loads too much."))
    func defaultLimit() async throws {
        let center = try await Service.center()
        #expect(
            try await Service.places(around: center)
                == Service.places(around: center, limit: NearbyPlacesRequest.defaultLimit))
    }

    @Test(
        "A radius leaves out what is farther away and nothing else",
        .contract(
            .invariant, in: .locations,
            otherwise: "\"Am I at a place?\" says yes too far away, or no at the door."),
        arguments: [1e-300, 55.5, 1000, 5000, NearbyPlacesRequest.maximumRadiusMeters])
    func radius(radius: Double) async throws {
        let center = try await Service.center()
        let all = try await Self.hundred.value
        let places = try await Service.places(around: center, radius: radius, limit: 100)
        // The response has distances rounded to 0.1 m; the service compares them unrounded.
        #expect(places.allSatisfy { ($0.distance ?? .infinity) <= radius + 0.05 })
        let certain = all.prefix { ($0.distance ?? .infinity) < radius - 0.05 }
        #expect(places.starts(with: certain))
        #expect(all.starts(with: places))
    }
}

/// Searches of any service, whatever its data; what filters leave is compared with a whole region by `RegionTests`.
@Suite("Searching", .timeLimit(.minutes(2)))
struct SearchTests {
    @Test(
        "Places without a centre have no distance, and come in the order from the box's middle",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "A map labels places at its edges and none in its middle."), .needsIndex)
    func boxAlone() async throws {
        let box = try #require(BoundingBox(west: -122, south: 37.2, east: -121.7, north: 37.5))
        let places = try await Service.client().nearbyPlaces(NearbyPlacesRequest(box: box, limit: 50)).places
        #expect(places.allSatisfy { $0.distance == nil })
        var request = NearbyPlacesRequest(box: box, limit: 50)
        request.center = box.middle
        #expect(try await Service.client().nearbyPlaces(request).places.map(\.id) == places.map(\.id))
    }

    @Test(
        "A text without a word finds nothing",
        .contract(
            .invariant, .recorded, in: .locations, otherwise: "A search for punctuation lists everything."),
        .needsIndex)
    func noWord() async throws {
        let request = NearbyPlacesRequest(center: try await Service.center(), searchText: " -- ")
        #expect(try await Service.client().nearbyPlaces(request).places == [])
    }
}

import Foundation
import PointsOfInterestClient
import Testing

/// What filters leave, compared with what is there: for every service, whatever its data.
@Suite("Searching", .timeLimit(.minutes(2)))
struct SearchTests {
    /// The places nearest to the centre, as many as one response holds.
    private func nearest(_ limit: Int = 100) async throws -> [PointOfInterest] {
        try await Service.client().nearbyPlaces(
            NearbyPlacesRequest(center: try await Service.center(), limit: limit)
        ).places
    }

    /// A search around the centre whose response begins as the unfiltered one does, without what doesn't match.
    private func expectFilter(
        _ request: NearbyPlacesRequest, keeps isKept: (PointOfInterest) -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var request = request
        request.center = try await Service.center()
        request.limit = 100
        let found = try await Service.client().nearbyPlaces(request).places
        let expected = try await nearest().filter(isKept)
        let strays = found.filter { !isKept($0) }
        #expect(strays == [], sourceLocation: sourceLocation)
        #expect(found.starts(with: expected), sourceLocation: sourceLocation)
    }

    @Test(
        "A category, or several, leave their places and no other", .contract(.invariant),
        arguments: [1, 2, 50])
    func categories(count: Int) async throws {
        let names = try await Service.client().categories().prefix(count).map(\.name)
        try await expectFilter(NearbyPlacesRequest(center: nil, categories: names)) {
            names.contains($0.category)
        }
    }

    @Test("Featured and not featured part the places", .contract(.invariant), arguments: [true, false])
    func featured(isFeatured: Bool) async throws {
        try await expectFilter(NearbyPlacesRequest(center: nil, featured: isFeatured)) {
            $0.featured == isFeatured
        }
    }

    @Test(
        "A box leaves the places in it, also across the antimeridian and around a pole",
        .contract(.invariant))
    func boxes() async throws {
        for (west, south, east, north) in [
            (-122.0, 37.0, -121.88, 38.0), (170, -60, -170, 60), (-180, 60, 180, 90), (-180, -90, 180, 90),
            (-121.8893, 37.3293, -121.8893, 37.3293),
        ] {
            let box = try #require(BoundingBox(west: west, south: south, east: east, north: north))
            var request = NearbyPlacesRequest(box: box)
            request.center = try await Service.center()
            try await expectFilter(request) { box.contains(latitude: $0.latitude, longitude: $0.longitude) }
        }
    }

    @Test(
        "Without a centre places have no distance, and come in the order from the box's middle",
        .contract(.invariant, .recorded))
    func boxAlone() async throws {
        let box = try #require(BoundingBox(west: -122, south: 37.2, east: -121.7, north: 37.5))
        let places = try await Service.client().nearbyPlaces(NearbyPlacesRequest(box: box, limit: 50)).places
        #expect(places.allSatisfy { $0.distance == nil })
        var request = NearbyPlacesRequest(box: box, limit: 50)
        request.center = box.middle
        #expect(try await Service.client().nearbyPlaces(request).places.map(\.id) == places.map(\.id))
    }

    @Test("Filters together leave what each of them leaves", .contract(.invariant), .needs(places: 1))
    func together() async throws {
        let box = try #require(BoundingBox(west: -122, south: 37, east: -121.88, north: 38))
        let category = try #require(await Service.client().categories().first?.name)
        var request = NearbyPlacesRequest(box: box, categories: [category], featured: false)
        request.center = try await Service.center()
        try await expectFilter(request) {
            box.contains(latitude: $0.latitude, longitude: $0.longitude) && $0.category == category
                && !$0.featured
        }
    }

    @Test(
        "A text finds a place by the beginning of any word of its name, whatever its case",
        .contract(.invariant))
    func text() async throws {
        for place in try await nearest(20) {
            // What folding makes of other letters is for the seeded tests.
            let words = place.name.split(separator: " ").filter {
                $0.utf8.allSatisfy { $0 < 128 } && $0.allSatisfy { $0.isLetter || $0.isNumber }
            }
            for word in words {
                let beginning = String(word.prefix(3)).uppercased()
                let request = NearbyPlacesRequest(
                    center: try Coordinate(latitude: place.latitude, longitude: place.longitude), limit: 100,
                    searchText: beginning)
                let found = try await Service.client().nearbyPlaces(request).places
                // It is the nearest, unless a hundred others stand on the same spot.
                let isCrowded = found.count == 100 && found.last?.distance == 0
                #expect(found.contains { $0.id == place.id } || isCrowded, "\(beginning): \(place.name)")
            }
        }
    }

    @Test("A text without a word finds nothing", .contract(.invariant, .recorded))
    func noWord() async throws {
        let request = NearbyPlacesRequest(center: try await Service.center(), searchText: " -- ")
        #expect(try await Service.client().nearbyPlaces(request).places == [])
    }
}

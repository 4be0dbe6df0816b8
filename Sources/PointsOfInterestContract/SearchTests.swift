import Foundation
import PointsOfInterestClient
import Testing

/// Searches of any service, whatever its data; what filters leave is compared with a whole region by `RegionTests`.
@Suite("Searching", .timeLimit(.minutes(2)))
struct SearchTests {
    @Test(
        "Places without a centre have no distance, and come in the order from the box's middle",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "A map labels places at its edges and none in its middle."))
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
            .invariant, .recorded, in: .locations, otherwise: "A search for punctuation lists everything."))
    func noWord() async throws {
        let request = NearbyPlacesRequest(center: try await Service.center(), searchText: " -- ")
        #expect(try await Service.client().nearbyPlaces(request).places == [])
    }
}

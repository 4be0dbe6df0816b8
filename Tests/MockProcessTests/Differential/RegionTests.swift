import Foundation
import PointsOfInterestOffline
import PointsOfInterestTesting
import Randomness
import ServerProcess
import Testing

/// A region that was downloaded from the real service, beside that service: what an app gets of either.
@Suite("A region and the service", .timeLimit(.minutes(3)))
struct RegionTests {
    private static let languages = ["de", "en"]

    private static func request(using generator: inout SeededGenerator) throws -> NearbyPlacesRequest {
        let center = try Coordinate(
            latitude: .random(in: -60...70, using: &generator),
            longitude: .random(in: -180...180, using: &generator))
        let isInTown = Bool.random(using: &generator)
        let here = isInTown ? try Coordinate(latitude: 37.3293, longitude: -121.8893) : center
        var request = NearbyPlacesRequest(center: here, limit: Int.random(in: 1...100, using: &generator))
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: request.radiusMeters = .random(in: 100...5_000_000, using: &generator)
        case 1:
            request.box = BoundingBox(west: 100, south: -50, east: -110, north: 60)
            if Bool.random(using: &generator) { request.center = nil }
        case 2:
            request = NearbyPlacesRequest(
                ids: (0..<30).map { _ in .random(in: 1...250, using: &generator) }, center: here)
        case 3: request.searchText = ["sa", "the", "muse", "park san"].randomElement(using: &generator)
        case 4:
            let text =
                ["san jose", "tech interactve", "cesar", "golden gte", "plaza", "jardin", "bruecke"]
                .randomElement(using: &generator) ?? ""
            request = NearbyPlacesRequest(searchText: text, center: here, limit: 7)
        default: request.categories = ["museum", "park"]
        }
        if Bool.random(using: &generator) { request.languages = Self.languages }
        if Bool.random(using: &generator) { request.properties = ["phone", "wheelchair", "openingHours"] }
        return request
    }

    @Test(
        "A region's lists, places, clusters, categories and credits are the service's")
    func answers() async throws {
        var generator = SeededGenerator()
        let folder = FileManager.default.temporaryDirectory.appending(path: "region-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let service = PointsOfInterestService(
            baseURL: try await ServerPair().serviceURL, responseStore: nil, coordinateDecimals: nil)
        let regions = try OfflineRegions(directory: folder)
        let world = try #require(BoundingBox(west: -180, south: -90, east: 180, north: 90))
        let region = OfflineRegion(name: "All", box: world)
        try regions.add(region)
        let state = try await regions.update(region.id, from: service)
        let kept = OfflinePlaceFinder(regions: regions)
        for _ in 0..<100 {
            let request = try Self.request(using: &generator)
            var (own, other): (PlacesPage?, PlacesPage?) = (
                try await kept.nearbyPlaces(request), try await service.nearbyPlaces(request)
            )
            for _ in 0..<3 {
                let expected = other?.places.filter { $0.operatingStatus != .permanentlyClosed }
                #expect(own?.places == expected, "POI_TEST_SEED=\(generator.seed) \(request)")
                #expect((own?.next == nil) == (other?.next == nil))
                guard let ownPage = own, let otherPage = other else { break }
                own = try await kept.nextPage(after: ownPage)
                other = try await service.nextPage(after: otherPage)
            }
        }
        let all = try await service.categories(languages: Self.languages).filter { $0.count > 0 }
        #expect(try await kept.categories(languages: Self.languages, searchText: nil) == all)
        #expect(all.reduce(0) { $0 + $1.count } == state.placeCount)
        #expect(try await kept.attributions() == service.attributions())
        for id in [1, 8, 20, 215] {
            let place = try await service.place(id: id, center: nil, languages: ["de"])
            #expect(try await kept.place(id: id, center: nil, languages: ["de"]) == place)
        }
        for zoom in [0, 2] {
            let request = ClustersRequest(box: world, zoom: zoom)
            #expect(try await kept.clusters(request) == service.clusters(request))
        }
    }
}

import BruteForce
import DifficultPlaces
import Foundation
import Locking
import PointsOfInterestClient
import PointsOfInterestHTTP
import PointsOfInterestTesting
import Randomness
import Testing

@testable import PointsOfInterestOffline

/// What an app's screens show of a region, while the service responds late, and where it can't be reached.
@Suite("Screens with a region", .timeLimit(.minutes(5)))
@MainActor
struct RegionModelsTests {
    private nonisolated static let here = Coordinate(wrapping: 52.5, 13.4)

    /// A device at the region's middle.
    private final class Device: CurrentLocationSource {
        var lastLocation: Coordinate? { RegionModelsTests.here }
        func currentLocation() async throws(LocationError) -> LocationFix {
            LocationFix(
                latitude: RegionModelsTests.here.latitude, longitude: RegionModelsTests.here.longitude,
                horizontalAccuracy: 5)
        }
    }

    private struct Fixture {
        let folder: TestFolder
        let regions: OfflineRegions
        let fleet: Fleet
        let region: OfflineRegion

        init() async throws {
            var generator = SeededGenerator(seed: 7)
            let places = (1...300).map { id in
                Sample.place(
                    id, at: RegionModelsTests.here.moved(upTo: 0.5, using: &generator), using: &generator)
            }
            fleet = Fleet(places)
            folder = try TestFolder()
            regions = try OfflineRegions(directory: folder.url)
            region = OfflineRegion(name: "Berlin", around: RegionModelsTests.here, radiusMeters: 100_000)
            try regions.add(region)
            try await regions.update(region.id, from: Link(fleet).service)
        }

        func finder(_ service: any PlaceFinder) -> OfflinePlaceFinder {
            OfflinePlaceFinder(regions: regions, service: service)
        }
    }

    private nonisolated static let lost = RequestError(
        .transport(code: URLError.notConnectedToInternet.rawValue, reason: ""))

    @Test("A list shows the region's places at once, and the service's once it has responded")
    func list() async throws {
        let fixture = try await Fixture()
        let (waiting, proceed) = AsyncStream.makeStream(of: Void.self)
        let service = MockPlaceFinder { _ in
            for await _ in waiting { break }
            return .fixtures(3)
        }
        let list = PointsOfInterestList(
            placeFinder: fixture.finder(service), locationSource: Device(),
            request: .init(center: nil, limit: 5))
        var updates = list.updates().makeAsyncIterator()
        let load = Task { await list.load() }
        while let state = await updates.next(), state.places.isEmpty {}
        #expect(list.source == .region(fixture.region.id) && list.isKept && list.coverage == .whole)
        #expect(list.places.count == 5 && list.places.allSatisfy { $0.distance != nil })
        #expect(list.receivedAt != nil && list.phase == .loading)
        proceed.yield()
        await load.value
        #expect(list.places.map(\.id) == [1, 2, 3] && list.source == .service && !list.isKept)
        #expect(list.phase == .loaded)
    }

    @Test(
        "Without a network a list goes on in the region to its end, also where the network comes back meanwhile"
    )
    func pages() async throws {
        let fixture = try await Fixture()
        let isLost = Lock(true)
        let service = MockPlaceFinder { _ in
            if isLost.withLock({ $0 }) { throw Self.lost }
            return .fixtures(3)
        }
        let list = PointsOfInterestList(
            placeFinder: fixture.finder(service), locationSource: Device(),
            request: .init(center: nil, limit: 100))
        await list.load()
        #expect(list.phase == .loaded && list.source == .region(fixture.region.id) && list.hasMore)
        isLost.withLock { $0 = false }
        while list.hasMore { await list.loadMore() }
        #expect(list.places.count == fixture.regions.list()[0].placeCount)
        #expect(list.coverage == .partial, "beyond the region there may be more")
        let distances = list.places.compactMap(\.distance)
        #expect(distances == distances.sorted() && distances.count == list.places.count)
        await list.load()
        #expect(list.places.map(\.id) == [1, 2, 3])
    }

    @Test("Without a network a map, a search, featured places and favourites show the region's")
    func others() async throws {
        let fixture = try await Fixture()
        let finder = fixture.finder(MockPlaceFinder { _ in throw Self.lost })
        let map = PlacesMap(placeFinder: finder)
        let box = try #require(BoundingBox(center: Self.here, latitudeDelta: 0.2, longitudeDelta: 0.2))
        await map.load(box)
        #expect(map.source == .region(fixture.region.id) && map.coverage == .whole && map.isComplete)
        #expect(
            !map.places.isEmpty
                && map.places.allSatisfy { box.contains(latitude: $0.latitude, longitude: $0.longitude) })
        await map.load(box, zoom: 8)
        #expect(map.clusters.reduce(map.places.count) { $0 + $1.count } >= 10)
        let featured = FeaturedPlaceManager(placeFinder: finder, locationSource: Device())
        await featured.load()
        #expect(featured.currentPlace?.featured == true && featured.source == .region(fixture.region.id))
        let search = PlaceSearch(placeFinder: finder, locationSource: Device())
        search.text = "albq nova"
        await search.load()
        #expect(
            search.results.first?.place.name == "Alba Nova" && search.source == .region(fixture.region.id))
        let ids = map.places.prefix(3).map(\.id)
        let favorites = FavoritePlaces(ids: ids + [99_999], placeFinder: finder)
        await favorites.load()
        #expect(favorites.places.map(\.id) == ids && favorites.isKept && favorites.missing.isEmpty)
        // Far away the region has nothing to say.
        let away = try #require(BoundingBox(west: 0, south: 0, east: 1, north: 1))
        await map.load(away)
        #expect(map.phase == .failed(.request(Self.lost)))
    }

    @Test("A favourite is in a region wherever it is")
    func favorites() async throws {
        let fixture = try await Fixture()
        let far = StoredPlace(.fixture(id: 5000))
        fixture.fleet.commit([far])
        var region = fixture.region
        region.favorites = [5000, 1]
        try fixture.regions.add(region)
        try await fixture.regions.update(region.id, from: Link(fixture.fleet).service)
        let finder = fixture.finder(MockPlaceFinder { _ in throw Self.lost })
        #expect(fixture.regions.places(of: region.id)?.notes.favorites.map(\.id) == [1, 5000])
        let favorites = FavoritePlaces(ids: [5000], placeFinder: finder)
        await favorites.load()
        #expect(favorites.places.map(\.id) == [5000])
    }
}

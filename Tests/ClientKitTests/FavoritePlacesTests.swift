import Foundation
import Locking
import PointsOfInterestTesting
import Testing

@Suite("Favourite places", .timeLimit(.minutes(1)))
@MainActor
struct FavoritePlacesTests {
    private nonisolated static let offline = RequestError.transport(code: -1009, reason: "offline")
    private nonisolated static let yesterday = Date(timeIntervalSinceReferenceDate: 700_000_000)

    /// A service with the places 1 to a number, those in a kept page, and an error that it fails with, if any.
    private func finder(
        _ count: Int, kept: [Int] = [], _ error: Lock<RequestError?> = Lock(nil)
    ) -> MockPlaceFinder {
        MockPlaceFinder(
            pages: [.fixtures(count)],
            keptPage: PlacesPage(
                places: kept.map { .fixture(id: $0, name: "Kept", distance: 5) }, next: nil,
                receivedAt: Self.yesterday)
        ) { call in
            if case .nearbyPlaces = call, let error = error.withLock({ $0 }) { throw error }
        }
    }

    @Test("Favourites are in the person's order, and those that aren't found are missing until removed")
    func keepTheirOrder() async {
        let favorites = FavoritePlaces(ids: [3, 9, 1, 3, 2], placeFinder: finder(3))
        #expect(favorites.ids == [3, 9, 1, 2])
        await favorites.load()
        #expect(favorites.ids == [3, 9, 1, 2])
        #expect(favorites.missing == [9])
        #expect(favorites.places.map(\.id) == [3, 1, 2])
        #expect(favorites.phase == .loaded)
        #expect(!favorites.isKept)
        favorites.add(.fixture(id: 7))
        favorites.add(.fixture(id: 1))
        favorites.remove(id: 3)
        favorites.remove(id: 9)
        #expect(favorites.contains(id: 7))
        #expect(!favorites.contains(id: 3))
        #expect(favorites.missing == [])
        #expect(favorites.ids == [1, 2, 7])
        #expect(favorites.places.map(\.id) == [1, 2, 7])
    }

    @Test("One wrong response takes nothing away: what it lacks is still shown, and asked for again")
    func surviveAWrongResponse() async {
        let isWrong = Lock(false)
        let finder = MockPlaceFinder { _ in isWrong.withLock { $0 } ? [] : .fixtures(2) }
        let favorites = FavoritePlaces(ids: [2, 1], placeFinder: finder)
        await favorites.load()
        isWrong.withLock { $0 = true }
        await favorites.load()
        #expect(favorites.ids == [2, 1])
        #expect(favorites.missing == [2, 1])
        #expect(favorites.places == [PointOfInterest].fixtures(2).reversed())
        isWrong.withLock { $0 = false }
        await favorites.load()
        #expect(finder.requests.map(\.ids) == [[2, 1], [2, 1], [2, 1]])
        #expect(favorites.missing == [])
    }

    @Test("The service is asked at once, not only when it is known what is kept")
    func askAtOnce() async {
        let gate = Gate()
        let finder = MockPlaceFinder(pages: [.fixtures(2)]) { call in
            if case .keptPlaces = call { await gate.pass() }
        }
        let favorites = FavoritePlaces(ids: [2, 1], placeFinder: finder)
        await favorites.load()
        #expect(favorites.places.map(\.id) == [2, 1])
        gate.open()
    }

    @Test("Those that are kept are shown at once, and stay where the load fails, with none removed")
    func areKept() async {
        let error = Lock<RequestError?>(Self.offline)
        let favorites = FavoritePlaces(ids: [2, 8, 1], placeFinder: finder(2, kept: [1, 2], error))
        await favorites.load()
        #expect(favorites.ids == [2, 8, 1])
        #expect(favorites.places.map(\.id) == [2, 1])
        #expect(favorites.places.map(\.distance) == [nil, nil])
        #expect(favorites.isKept)
        #expect(favorites.receivedAt == Self.yesterday)
        #expect(favorites.phase == .failed(.request(Self.offline)))
        error.withLock { $0 = nil }
        await favorites.load()
        #expect(favorites.places == [PointOfInterest].fixtures(2).reversed())
        #expect(favorites.ids == [2, 8, 1])
        #expect(favorites.missing == [8])
        #expect(!favorites.isKept)
        let networkOnly = FavoritePlaces(
            ids: [1], placeFinder: finder(2, kept: [1], Lock(Self.offline)), policy: .networkOnly)
        await networkOnly.load()
        #expect(networkOnly.places.isEmpty)
    }

    @Test(
        "One that was merged is replaced by the place that it is now, once, and announced; a removed one is missing"
    )
    func followMerges() async {
        let places = [
            PointOfInterest.fixture(id: 5, mergedFrom: [2, 9]), .fixture(id: 3, mergedFrom: [1]),
            .fixture(id: 4),
        ]
        let favorites = FavoritePlaces(ids: [9, 4, 7, 1, 2, 3], placeFinder: MockPlaceFinder(places))
        await favorites.load()
        #expect(favorites.ids == [5, 4, 7, 3])
        #expect(favorites.places.map(\.id) == [5, 4, 3])
        #expect(favorites.missing == [7])
        #expect(favorites.contains(id: 5) && !favorites.contains(id: 9))
        await favorites.load()
        #expect(favorites.ids == [5, 4, 7, 3] && favorites.missing == [7])
    }

    @Test("One that was removed while it was loaded doesn't come back as the place that it was merged into")
    func mergesMeanwhile() async {
        let gate = Gate()
        let finder = MockPlaceFinder(pages: [[.fixture(id: 5, mergedFrom: [2]), .fixture(id: 3)]]) { call in
            if case .nearbyPlaces = call { await gate.pass() }
        }
        let favorites = FavoritePlaces(ids: [2, 3], placeFinder: finder)
        let load = Task { await favorites.load() }
        await gate.arrival()
        favorites.remove(id: 2)
        gate.open()
        await load.value
        #expect(favorites.ids == [3] && favorites.places.map(\.id) == [3] && favorites.missing == [])
    }

    @Test("More than a hundred are asked for in parts, with the last location")
    func areAskedForInParts() async throws {
        let finder = finder(250)
        let location = FixedLocation()
        let favorites = FavoritePlaces(
            ids: Array((1...250).reversed()), placeFinder: finder, locationSource: location,
            properties: ["phone"], languages: ["de"])
        await favorites.load()
        #expect(finder.requests.map(\.ids.count) == [100, 100, 50])
        #expect(finder.requests.allSatisfy { $0.properties == ["phone"] && $0.languages == ["de"] })
        #expect(finder.requests.map(\.center) == Array(repeating: location.lastLocation, count: 3))
        #expect(favorites.places.map(\.id) == Array((1...250).reversed()))
        await FavoritePlaces(ids: [], placeFinder: finder).load()
        #expect(finder.requests.count == 3, "without favourites, nothing is sent")
    }

    @Test("What changes while favourites are loaded stays changed")
    func changesMeanwhile() async {
        let gate = Gate()
        let finder = MockPlaceFinder(pages: [.fixtures(5)]) { call in
            if case .nearbyPlaces = call { await gate.pass() }
        }
        let favorites = FavoritePlaces(ids: [1, 2, 3], placeFinder: finder)
        let load = Task { await favorites.load() }
        await gate.arrival()
        favorites.remove(id: 1)
        favorites.add(.fixture(id: 8))
        gate.open()
        await load.value
        #expect(favorites.ids == [2, 3, 8])
        #expect(favorites.places.map(\.id) == [2, 3, 8])
    }

    @Test(
        "Places are moved as a view says it, and one that isn't shown keeps its position",
        arguments: [
            ([0], 3, [2, 9, 3, 1]), ([2], 0, [3, 9, 1, 2]), ([0, 2], 1, [1, 9, 3, 2]),
            ([1], 1, [1, 9, 2, 3]),
            ([7], 0, [1, 9, 2, 3]), ([0, 1, 2], 3, [1, 9, 2, 3]),
        ])
    func move(source: [Int], destination: Int, ids: [Int]) async {
        let favorites = FavoritePlaces(
            ids: [1, 9, 2, 3], placeFinder: finder(0, kept: [1, 2, 3], Lock(Self.offline)))
        await favorites.load()
        favorites.move(fromOffsets: IndexSet(source), toOffset: destination)
        #expect(favorites.ids == ids)
        #expect(favorites.places.map(\.id) == ids.filter { $0 != 9 })
    }
}

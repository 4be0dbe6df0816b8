import EventLoop
import Loopback
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Randomness
import SpatialIndex
import Testing

@testable import BruteForce
@testable import Places

/// The ids of removed places in memory.
@Suite("The ids of removed places", .timeLimit(.minutes(1)))
struct FormerIDsTests {
    @Test("After any changes they are those of a model that has each id by itself")
    func changes() {
        var generator = SeededGenerator()
        var (ids, model) = (FormerIDs(), [Int64: Int64]())
        for _ in 0..<300 {
            let changed = (0..<Int.random(in: 0...20, using: &generator)).map { _ in
                Int64.random(in: -50...50, using: &generator)
            }
            let range =
                Int64.random(in: -60...0, using: &generator)...Int64.random(in: 0...60, using: &generator)
            let isRange = Bool.random(using: &generator)
            let named = isRange ? changed.filter(range.contains) : changed
            // 0 stands for a place that was removed and not merged.
            var now: [Int64: Int64] = [:]
            for id in named where Bool.random(using: &generator) {
                now[id] = Int64.random(in: 0...3, using: &generator)
            }
            let replacement = FormerIDs(Array(now.keys), survivors: now.filter { $0.value != 0 })
            if isRange {
                ids.replace(range, with: replacement)
                model = model.filter { !range.contains($0.key) }
            } else {
                ids.replace(named, with: replacement)
                for id in named { model[id] = nil }
            }
            model.merge(now) { $1 }
            #expect(
                ids == FormerIDs(Array(model.keys), survivors: model.filter { $0.value != 0 }),
                "POI_TEST_SEED=\(generator.seed)")
            #expect((-60...60).allSatisfy { ids.contains($0) == (model[$0] != nil) })
        }
    }

    @Test("Where nothing differs, nothing is copied")
    func areShared() {
        let first = FormerIDs(Array(1...1000), survivors: [7: 2000])
        var second = first
        second.replace([7, 8, 3000], with: FormerIDs([7, 8], survivors: [7: 2000]))
        #expect(
            second.ids.withUnsafeBufferPointer(\.baseAddress)
                == first.ids.withUnsafeBufferPointer(\.baseAddress))
    }

    private static let places = [1, 3, 5].map {
        PointOfInterest(id: $0, name: "Place \($0)", category: "park", latitude: 0, longitude: Double($0))
    }

    /// Serves the places 1, 3 and 5, with what is known of others.
    private static func withStore(
        _ former: FormerIDs?, _ body: @escaping @Sendable (IndexedPlaceStore) async throws -> Void
    ) async throws {
        try await onLoop { loop in
            let (index, id) = (ServedIndex(), DatasetID(high: 1, low: 2))
            let facts = ServedIndex.Facts(
                version: DatasetVersion(datasetID: id, revision: 1, incarnation: id),
                categories: NameVocabulary(["park"]), former: former)
            var builder = IndexPartBuilder(expecting: 3)
            for place in places { _ = builder.add(StoredPlace(place).fields) }
            index.publish(
                IndexSnapshot(part: builder.build(), version: IndexVersion(facts)), facts, confirmedAt: .zero,
                until: .seconds(1 << 50))
            let store = IndexedPlaceStore(index, requestTimeout: .seconds(1), loop: loop)
            try await body(store)
            await store.close()
        }
    }

    /// 2 was merged into 3, 4 and 6 into 5; 7 was removed; 8 was merged into 9, which isn't there either. 1 is there.
    private static let former = FormerIDs([8, 7, 6, 4, 2, 1], survivors: [2: 3, 4: 5, 6: 5, 8: 9, 1: 3])

    @Test("A place in the index wins; of others the details say what became of them")
    func details() async throws {
        for former in [Self.former, nil] {
            try await Self.withStore(former) { store in
                for id in 1...10 {
                    let page = try #require(try store.place(for: PlaceRequest(id: id)).atOnce)
                    #expect(page.places.count == ([1, 3, 5].contains(id) ? 1 : 0))
                    let known: [Int: FormerPlace] = [
                        2: .merged(into: 3), 4: .merged(into: 5), 6: .merged(into: 5), 7: .removed,
                        8: .removed,
                    ]
                    #expect(page.places.former == (former == nil ? nil : known[id]), "\(id)")
                }
            }
        }
    }

    @Test(
        "In place of merged places a list by ids has the others, once each, with the ids that were asked for")
    func lists() async throws {
        try await Self.withStore(Self.former) { store in
            func found(_ ids: [Int], from center: Coordinate? = nil) throws -> [PointOfInterest] {
                let page = try store.places(
                    for: NearbyPlacesRequest(ids: ids, center: center), from: .unknown)
                return try #require(page.atOnce).places.copied()
            }
            func ids(_ places: [PointOfInterest]) -> [[Int]] { places.map { [$0.id] + $0.mergedFrom } }
            #expect(ids(try found([6, 5, 2, 4, 7, 8, 10, 1])) == [[1], [3, 2], [5, 4, 6]])
            #expect(ids(try found([6])) == [[5, 6]])
            #expect(ids(try found([7, 10])) == [])
            let center = try Coordinate(latitude: 0, longitude: 9)
            let near = try found([4, 2, 1], from: center)
            #expect(ids(near) == [[5, 4], [3, 2], [1]])
            #expect(near.allSatisfy { $0.distance != nil })
            let page = try #require(
                try store.places(for: NearbyPlacesRequest(ids: [2]), from: .unknown).atOnce)
            var writer = JSONWriter()
            try PlaceStyle(.geoJSON).write(page.places, to: &writer)
            let end =
                #""properties":{"name":"Place 3","category":"park","featured":false,"mergedFrom":[2]}}]}"#
            #expect(String(decoding: writer.bytes, as: UTF8.self).hasSuffix(end))
        }
    }
}

import PointsOfInterestServerAPI
import BruteForce
import EventLoop
import Foundation
import Loopback
import PointsOfInterestAPI
import Randomness
import SpatialIndex
import Testing

@testable import POIService
@testable import Places

/// The store of places in memory, without another one behind it: what a mock serves from.
@Suite("Places in memory alone", .timeLimit(.minutes(2)))
struct IndexedPlaceStoreTests {
    /// Two of them are equal as strings, and not byte by byte.
    private static let datasets = ["d,0", "d\u{E9}", "de\u{301}"]
    private static let vocabulary = FilterVocabulary(
        categories: ["cafe", "park", "zoo"], datasets: datasets,
        properties: FilterableProperties([("open", .boolean), ("b \"c", .text)]))

    /// Few coordinates, so that many places are equally far.
    private static func places(using generator: inout SeededGenerator) -> [StoredPlace] {
        let names = [
            "Café d’Or", "Children's Park", "Łódź 7", "Park", "…", "각", "Müller’s 東京タワーTower", "ばばび",
        ]
        return (1...60).map { id in
            let degrees = (0..<2).map { _ in Double(Int.random(in: -2...2, using: &generator)) }
            let isSourced = id % 3 == 0
            let place = PointOfInterest(
                id: id, name: names[Int.random(in: names.indices, using: &generator)],
                category: ["cafe", "park"][id % 2], latitude: 90 - abs(degrees[0]),
                longitude: degrees[1] * 90,
                featured: id % 5 == 0, address: id % 7 == 0 ? "1 \"Way\"" : nil,
                source: isSourced
                    ? .init(dataset: datasets[id % 9 / 3], id: "\(id)", license: "l\(id % 4)") : nil,
                importance: id % 4 == 0 ? id : 0,
                properties: Self.properties(of: id),
                operatingStatus: id % 11 == 0 ? .permanentlyClosed : id % 7 == 1 ? .temporarilyClosed : nil,
                version: id << 40, updatedAt: Date(timeIntervalSince1970: Double(id) * 10_000_000))
            let tags = ["ja", "zh", "zh-Hant", "EN-us", "de-1996-x-a"].filter { _ in
                Bool.random(using: &generator)
            }
            return StoredPlace(
                place, names: Dictionary(uniqueKeysWithValues: tags.map { ($0, "\"\($0)\" \(id)") }),
                otherNames: names.filter { _ in Int.random(in: 0..<8, using: &generator) == 0 })
        }
    }

    private static func properties(of id: Int) -> JSONValue.Object? {
        switch id % 6 {
        case 0: ["a": .integer(id), "b \"c": [.null, ["d": "\\"], "\\", "e\u{301}"]]
        case 1: ["open": .boolean(id % 4 == 1), "b \"c": "\u{E9}"]
        case 2: ["b \"c": "x,y"]
        default: nil
        }
    }

    private static let filters: [[PropertyFilter]] = [
        [PropertyFilter("open", is: true)], [PropertyFilter("b \"c", anyOf: ["\u{E9}"])],
        [PropertyFilter("b \"c", anyOf: ["\\", "\u{E9}"]), PropertyFilter("open", is: false)],
        [PropertyFilter("b \"c", anyOf: ["x", "y"])],
    ]

    private static func languages(using generator: inout SeededGenerator) -> [String] {
        let tags = ["ja-JP", "zh", "zh-hant-tw", "en-us-x-b", "en", "de-1996-x-a-b", "de"]
        return tags.filter { _ in Int.random(in: 0..<5, using: &generator) == 0 }.shuffled(using: &generator)
    }

    private static func request(using generator: inout SeededGenerator) throws -> NearbyPlacesRequest {
        func pick<Value>(_ values: [Value]) -> Value {
            values[Int.random(in: values.indices, using: &generator)]
        }
        var request = NearbyPlacesRequest(
            center: try Coordinate(latitude: pick([90, 88, -90]), longitude: pick([0, 180, 77])),
            radiusMeters: pick([nil, nil, 1, 150_000, 300_000]), limit: pick([1, 7, 60, 100]))
        request.categories = pick([[], [], ["cafe"], ["park", "zoo"], ["zoo"]])
        request.datasets = pick([[], [], [datasets[0]], [datasets[1]], Array(datasets[1...])])
        request.featured = pick([nil, nil, true, false])
        request.searchText = pick([
            nil, nil, "dor", "child s", "LODZ", "…", "가", "mueller tow", "müller", "京タワ", "ばび", "ば", "hant",
            "us 1", "park d",
        ])
        request.box = pick([nil, nil, BoundingBox(west: 90, south: 88, east: -90, north: 90)])
        request.languages = languages(using: &generator)
        request.propertyFilters = pick([[], [], []] + filters)
        return request
    }

    @Test("Pages, single places, clusters and counts from memory are those of measuring every place")
    func exact() async throws {
        try await onLoop { loop in
            var generator = SeededGenerator()
            let places = Self.places(using: &generator)
            let truth = FixtureStore(stored: places, vocabulary: Self.vocabulary)
            let index = try #require(
                ServedIndex(
                    places.map(\.fields), categories: Self.vocabulary.categories,
                    properties: Self.vocabulary.properties))
            let store = IndexedPlaceStore(
                index, requestTimeout: .seconds(3600), loop: loop)
            var countAtOnce = 0
            for _ in 0..<300 {
                var request = try Self.request(using: &generator)
                let note = "POI_TEST_SEED=\(generator.seed) \(request)"
                for _ in 0..<3 {
                    let expected = try await truth.places(for: request)
                    // Not where many places are almost as far from an antipode.
                    if let page = try store.places(for: request, from: .unknown).atOnce {
                        countAtOnce += 1
                        #expect(
                            try page.places.copied(languages: request.languages) == expected.places.copied(),
                            "\(note)")
                        #expect(page.end == expected.end, "\(note)")
                    }
                    let later = try await store.searchedPlaces(for: request, from: .unknown)
                    #expect(
                        try later.places.copied(languages: request.languages) == expected.places.copied(),
                        "\(note)")
                    #expect(later.end == expected.end, "\(note)")
                    guard let end = later.end else { break }
                    request.cursor = PageCursor(end, in: request)
                }
                if let box = request.box {
                    let request = ClustersRequest(
                        box: box, zoom: .random(in: 0...3, using: &generator), filter: request.filter,
                        content: request.content)
                    let (expected, found) = (
                        try await truth.clusters(for: request),
                        try await store.countedClusters(for: request, from: .unknown)
                    )
                    #expect(found.sums == expected.sums, "\(note)")
                    if let atOnce = try store.clusters(for: request, from: .unknown).atOnce {
                        #expect(atOnce.sums == expected.sums, "\(note)")
                    }
                    #expect(
                        try found.places.copied(languages: request.languages) == expected.places.copied(),
                        "\(note)")
                }
            }
            #expect(countAtOnce > 100)
            for id in [1, 30, 33, 61] {
                let request = PlaceRequest(
                    id: id, center: try Coordinate(latitude: 0, longitude: 0),
                    languages: ["zh-hant-x-a", "en-us", "de"])
                let (expected, found) = (
                    try await truth.place(for: request).value(), try await store.place(for: request).value()
                )
                #expect(
                    try found.places.copied(languages: request.languages) == expected.places.copied())
            }
            for center in [nil, try Coordinate(latitude: 0, longitude: 0)] {
                var request = NearbyPlacesRequest(ids: [61, 3, 1, 1000, 33, 30, 2], center: center)
                request.languages = ["de-1996-x-a", "ja"]
                let (expected, found) = (
                    try await truth.places(for: request), try await store.places(for: request)
                )
                #expect(
                    try found.places.copied(languages: request.languages) == expected.places.copied())
            }
            #expect(try await store.categories().value().items == truth.categories().value().items)
            #expect(try await store.attributions().value().items == truth.attributions().value().items)
            #expect(try await store.currentVocabulary().value() == Self.vocabulary)
            #expect(await store.checkHealth() == .reachable(missingMigrations: []))
            #expect(store.staleSeconds == nil)
            await store.close()
        }
    }

    @Test("Places aren't served beyond their time by a process that was stopped in the middle of a turn")
    func stopped() async throws {
        try await onLoop { loop in
            let index = ServedIndex()
            let store = IndexedPlaceStore(
                index, requestTimeout: .seconds(1), loop: loop)
            let id = DatasetID(high: 0, low: 1)
            let version = DatasetVersion(datasetID: id, revision: 1, incarnation: id)
            let facts = ServedIndex.Facts(version: version, categories: Self.vocabulary.categories)
            let snapshot = IndexSnapshot(
                part: IndexPartBuilder(expecting: 0).build(), version: IndexVersion(facts))
            let end = loop.now + .milliseconds(1)
            index.publish(snapshot, facts, confirmedAt: .zero, until: end)
            while MonotonicClock.now < end {}
            #expect(store.currentDatasetID == nil && store.staleSeconds == nil)
            #expect(loop.now < end)
            index.publish(snapshot, facts, confirmedAt: .zero, until: .seconds(1 << 50))
            #expect(store.currentDatasetID == id)
            await store.close()
        }
    }

    @Test("Stores share the places in memory, and aren't ready if there are none")
    func shared() async throws {
        try await onLoop { loop in
            let index = try #require(ServedIndex([], categories: Self.vocabulary.categories))
            let stores = (0..<2).map { _ in
                IndexedPlaceStore(
                    index, requestTimeout: .seconds(1), loop: loop)
            }
            #expect(stores[0].currentDatasetID != nil)
            #expect(stores[0].currentDatasetID == stores[1].currentDatasetID)
            let empty = IndexedPlaceStore(
                ServedIndex(), requestTimeout: .seconds(1), loop: loop)
            #expect(empty.vocabulary == nil && empty.currentDatasetID == nil)
            #expect(await empty.checkHealth() == nil)
            await #expect(throws: PlaceStoreError.notReady) {
                _ = try await empty.place(for: PlaceRequest(id: 1)).value()
            }
            await #expect(throws: PlaceStoreError.self) { _ = try await empty.categories().value() }
        }
    }
}

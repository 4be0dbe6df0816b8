import DifficultPlaces
import PointsOfInterestAPI
import Randomness
import Testing

@testable import Geodesy
@testable import SpatialIndex

@Suite("Snapshots of the index")
struct SnapshotTests {
    @Test("Places are found by their ids, with position and record, and counted by category")
    func places() throws {
        var generator = SeededGenerator()
        let (places, _) = ExactnessTests.places(of: .mixture, using: &generator)
        let snapshot = IndexSnapshot(part: .packing(places), version: .revision(1))
        for place in places {
            let reference = try #require(snapshot.place(withID: place.id))
            #expect(Array(snapshot.records[reference].bytes) == place.record)
            let position = snapshot.position(of: reference)
            #expect(position.latitude.bitPattern == place.position.latitude.bitPattern)
            #expect(position.longitude.bitPattern == place.position.longitude.bitPattern)
        }
        #expect(snapshot.place(withID: -1) == nil)
        expectCounts(of: places, in: snapshot)
    }

    private func expectCounts(of places: [TestPlace], in snapshot: IndexSnapshot) {
        for (number, name) in snapshot.vocabulary.names.enumerated() {
            #expect(
                snapshot.categoryCounts[number] == places.filter { $0.category == name && $0.isListed }.count)
        }
        #expect(snapshot.sourceCounts.first == places.filter { $0.source == nil }.count)
        #expect(Set(snapshot.vocabulary.sources).isSuperset(of: places.compactMap(\.source)))
        for (source, count) in zip(snapshot.vocabulary.sources, snapshot.sourceCounts.dropFirst()) {
            #expect(count == places.filter { $0.source == source }.count)
        }
        #expect(snapshot.sourceCounts.reduce(0, +) == snapshot.placeCount)
    }

    @Test("An index without places has none")
    func empty() throws {
        let snapshot = IndexSnapshot(part: .packing([]), version: .revision(1))
        let center = try Coordinate(latitude: 1, longitude: 2)
        let query = IndexQuery(ranking: Ranking(center: center, radiusMeters: nil, limit: 21))
        #expect(snapshot.searchAtOnce(query)?.placed == [])
        #expect(snapshot.place(withID: 1) == nil)
        var generator = SeededGenerator()
        var place = TestPlace(id: 1, at: center, using: &generator)
        place.operatingStatus = nil
        let filled = snapshot.applying(
            removedIDs: [], added: .packing([place], snapshot.vocabulary), version: .revision(2))
        #expect(filled.search(query)?.placed.map(\.id) == [1])
        #expect(filled.applying(removedIDs: [1], added: nil, version: .revision(3)).placeCount == 0)
    }

    @Test("A large merge goes on while places change, and keeps what changed")
    func largeMerges() throws {
        var generator = SeededGenerator()
        let focus = Coordinate.anywhere(using: &generator)
        var places = Self.places(0..<6000, around: focus, using: &generator)
        var snapshot = IndexSnapshot(part: .packing(places), version: .revision(1))
        #expect(snapshot.proposedMerge() == nil)
        func change(_ ids: Range<Int64>, removing removed: Range<Int64>) {
            let changed = Self.places(ids, around: focus, using: &generator)
            places.removeAll { ids.contains($0.id) || removed.contains($0.id) }
            places += changed
            snapshot = snapshot.applying(
                removedIDs: Array(removed), added: .packing(changed, snapshot.vocabulary),
                version: .revision(2))
        }
        change(5000..<10_000, removing: 0..<100)
        let proposed = snapshot.proposedMerge()
        let merge = try #require(proposed)
        // Meanwhile: of the merged places some change and some go, and new ones come.
        change(3000..<3050, removing: 7000..<7100)
        change(20_000..<20_010, removing: 3000..<3010)
        let merged = merge.run()
        let adopted = snapshot.adopting(merged, of: merge)
        let next = try #require(adopted)
        #expect(next.placeCount == places.count)
        #expect(next.partCount == 2)
        expectCounts(of: places, in: next)
        var queries = RandomQueries(places: places, focus: focus, generator: generator)
        for _ in 0..<30 {
            guard expectExact(queries.next(), places, next, "POI_TEST_SEED=\(generator.seed)") else { return }
        }
        #expect(next.adopting(merged, of: merge) == nil)
    }

    @Test("A page that is used again for another search has the same content as a new page")
    func pageIsUsedAgain() {
        var generator = SeededGenerator()
        let (places, focus) = ExactnessTests.places(of: .towns, using: &generator)
        let snapshot = IndexSnapshot(part: .packing(places), version: .revision(1))
        var queries = RandomQueries(places: places, focus: focus, generator: generator)
        var page = IndexPage()
        for _ in 0..<100 {
            let query = queries.next().query(snapshot.vocabulary)
            guard let expected = snapshot.search(query) else { return }
            guard snapshot.searchAtOnce(query, into: &page) else { continue }
            #expect(page.placed == expected.placed && page.end == expected.end)
        }
    }

    @Test("A search is given up within its budget, and ends without one")
    func budget() {
        var generator = SeededGenerator()
        let focus = Coordinate(wrapping: 10, 20)
        // All at one distance: any of them may belong to the page.
        let places = (0..<5000).map { TestPlace(id: $0, at: focus, using: &generator) }
        let snapshot = IndexSnapshot(part: .packing(places), version: .revision(1))
        var query = TestQuery(ranking: Ranking(center: .init(wrapping: 11, 20), radiusMeters: nil, limit: 21))
        var page = IndexPage()
        #expect(!snapshot.find(query.query(snapshot.vocabulary), work: WorkBudget(remaining: 2000), &page))
        _ = expectExact(query, places, snapshot, "a crowd")
        // A rare category has trees of its own.
        let scattered = Self.places(0..<5000, around: focus, using: &generator)
        let other = IndexSnapshot(part: .packing(scattered), version: .revision(1))
        query.categories = ["zoo"]
        query.isFeatured = true
        let work = WorkBudget(remaining: 1000 + 200 * WorkBudget.geodesic)
        #expect(other.find(query.query(other.vocabulary), work: work, &page))
        _ = expectExact(query, scattered, other, "a rare category")
    }

    @Test("A place takes at most 160 bytes beside its record")
    func memory() {
        var generator = SeededGenerator()
        let places = Self.places(0..<5000, around: .init(wrapping: 10, 20), using: &generator)
        let part = IndexPart.packing(places)
        #expect(part.bytes - part.recordBytes <= 160 * places.count)
        #expect(part.recordBytes >= places.reduce(0) { $0 + $1.record.count })
    }

    static func places(
        _ ids: Range<Int64>, around focus: Coordinate, using generator: inout SeededGenerator
    ) -> [TestPlace] {
        ids.map {
            TestPlace(
                id: $0, at: PlaceKind.towns.coordinate(around: focus, using: &generator), using: &generator)
        }
    }
}

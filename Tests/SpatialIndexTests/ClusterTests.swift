import DifficultPlaces
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Randomness
import Testing

@testable import SpatialIndex

@Suite("Clusters of the index")
struct ClusterTests {
    @Test("Clusters are those of adding up every place, for any box, zoom and filter, also after changes")
    func exact() {
        var generator = SeededGenerator()
        let note = "POI_TEST_SEED=\(generator.seed)"
        for kind in PlaceKind.allCases {
            var (places, focus) = ExactnessTests.places(of: kind, using: &generator)
            var snapshot = IndexSnapshot(part: .packing(places), version: .revision(1))
            var queries = RandomQueries(places: places, focus: focus, generator: generator)
            for round in 0..<100 {
                if round % 10 == 9 { Self.change(&places, &snapshot, around: focus, using: &generator) }
                guard Self.expectExact(queries.next(), places, snapshot, &generator, "\(kind) \(note)") else {
                    return
                }
            }
        }
    }

    @Test("Clusters of a large part leave out removed places")
    func largePart() {
        var generator = SeededGenerator()
        let note = "POI_TEST_SEED=\(generator.seed)"
        let focus = Coordinate.anywhere(using: &generator)
        var places = SnapshotTests.places(0..<20_000, around: focus, using: &generator)
        var snapshot = IndexSnapshot(part: .packing(places), version: .revision(1))
        for removed in [1, 50, 3000] {
            var queries = RandomQueries(places: places, focus: focus, generator: generator)
            for _ in 0..<50 {
                guard Self.expectExact(queries.next(), places, snapshot, &generator, note) else { return }
            }
            let gone = Set(places.shuffled(using: &generator).prefix(removed).map(\.id))
            places.removeAll { gone.contains($0.id) }
            snapshot = snapshot.applying(removedIDs: Array(gone), added: nil, version: .revision(2))
        }
    }

    @Test("Clusters that take longer than a turn are left to a helper thread")
    func budget() throws {
        var generator = SeededGenerator()
        let places = SnapshotTests.places(0..<5000, around: .init(wrapping: 10, 20), using: &generator)
        let snapshot = IndexSnapshot(part: .packing(places), version: .revision(1))
        let earth = try #require(BoundingBox(west: -180, south: -90, east: 180, north: 90))
        let cells = ClusterCells(earth, zoom: 3)
        var filter = IndexFilter()
        filter.isFeatured = false
        #expect(snapshot.clusters(in: cells, filter, WorkBudget(remaining: 0)) == nil)
        #expect(snapshot.clusters(in: cells, IndexFilter(), WorkBudget(remaining: 0)) == nil)
        #expect(snapshot.clustersAtOnce(in: cells, filter)?.isEmpty == false)
    }

    /// Moves some places, removes some and adds some.
    private static func change(
        _ places: inout [TestPlace], _ snapshot: inout IndexSnapshot, around focus: Coordinate,
        using generator: inout SeededGenerator
    ) {
        let known = places.map(\.id).shuffled(using: &generator)
        let (moved, removed) = (known.prefix(10), known.dropFirst(10).prefix(10))
        let new = (known.max() ?? 0) + 1..<(known.max() ?? 0) + 6
        let added = (Array(moved) + Array(new)).map {
            TestPlace(
                id: $0, at: PlaceKind.mixture.coordinate(around: focus, using: &generator), using: &generator)
        }
        places.removeAll { moved.contains($0.id) || removed.contains($0.id) }
        places += added
        snapshot = snapshot.applying(
            removedIDs: Array(removed), added: .packing(added, snapshot.vocabulary), version: .revision(2))
    }

    /// Compares with adding up every place, in a random order; false where they differ.
    private static func expectExact(
        _ random: TestQuery, _ places: [TestPlace], _ snapshot: IndexSnapshot,
        _ generator: inout SeededGenerator, _ note: String
    ) -> Bool {
        var query = random
        let box = query.box ?? BoundingBox(west: -180, south: -90, east: 180, north: 90)
        query.box = nil
        guard let box else { return true }
        var zoom = Int.random(in: ClustersRequest.zooms, using: &generator)
        while ClusterCells(box, zoom: zoom).count > ClustersRequest.maximumCellCount { zoom -= 1 }
        let cells = ClusterCells(box, zoom: zoom)

        var truth: [Int: (sum: ClusterSum, ids: [Int64])] = [:]
        for place in places.filter(query.admits).shuffled(using: &generator) {
            let (latitude, longitude) = (place.position.latitude, place.position.longitude)
            guard let cell = cells.cell(of: Quadkey(latitude: latitude, longitude: longitude)) else {
                #expect(!box.contains(latitude: latitude, longitude: longitude) || abs(latitude) == 90)
                continue
            }
            truth[cell, default: (ClusterSum(), [])].sum.add(latitude: latitude, longitude: longitude)
            truth[cell]?.ids.append(place.id)
        }
        let expected = truth.sorted { $0.key < $1.key }.map(\.value)
        let clusters = snapshot.clusters(in: cells, query.query(snapshot.vocabulary).filter) ?? []
        let ids = clusters.map { cluster in
            cluster.place.map { snapshot.views[Int($0.part)].columns.ids[Int($0.place)] }
        }
        let isExact =
            clusters.map(\.sum) == expected.map(\.sum)
            && ids == expected.map { $0.ids.count == 1 ? $0.ids[0] : nil }
        #expect(isExact, "\(note) zoom \(zoom) \(box) \(query)")
        return isExact
    }
}

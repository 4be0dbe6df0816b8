import DifficultPlaces
import Foundation
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Randomness
import SpatialIndex
import Testing

@testable import Geodesy

/// How many requests about each kind of places; `scripts/soak` sends many more.
private let requestCount =
    ProcessInfo.processInfo.environment["POI_TEST_QUESTIONS"].flatMap { Int($0) } ?? 200

/// Compares the index with the measuring of every place.
@Suite("The index's pages are exact")
struct ExactnessTests {
    @Test(
        "A page is exact for any places, centre, radius, filter and limit", arguments: PlaceKind.allCases
    )
    func pages(of kind: PlaceKind) {
        var generator = SeededGenerator()
        let (places, focus) = Self.places(of: kind, using: &generator)
        let snapshot = IndexSnapshot(part: .packing(places), version: .revision(1))
        var queries = RandomQueries(places: places, focus: focus, generator: generator)
        for _ in 0..<requestCount {
            let query = queries.next()
            guard expectExact(query, places, snapshot, "\(kind) POI_TEST_SEED=\(generator.seed)") else {
                return
            }
        }
    }

    @Test("Each page continues the one before, to the end", arguments: PlaceKind.allCases)
    func walks(of kind: PlaceKind) {
        var generator = SeededGenerator()
        let (places, focus) = Self.places(of: kind, using: &generator)
        let snapshot = IndexSnapshot(part: .packing(places), version: .revision(1))
        var queries = RandomQueries(places: places, focus: focus, generator: generator)
        for _ in 0..<6 {
            var query = queries.next()
            query.ranking = Ranking(
                center: query.ranking.center, radiusMeters: query.ranking.radiusMeters,
                limit: max(8, query.ranking.limit))
            repeat {
                let comment = "\(kind) POI_TEST_SEED=\(generator.seed)"
                guard expectExact(query, places, snapshot, comment) else { return }
                query.ranking = Ranking(
                    center: query.ranking.center, radiusMeters: query.ranking.radiusMeters,
                    limit: query.ranking.limit,
                    after: query.truth(of: places).end)
            } while query.ranking.after != nil
        }
    }

    @Test(
        "A page is exact after random changes and merges", arguments: [PlaceKind.towns, .mixture, .onePoint])
    func changes(of kind: PlaceKind) {
        var generator = SeededGenerator()
        var (places, focus) = Self.places(of: kind, using: &generator)
        var snapshot = IndexSnapshot(part: .packing(places), version: .revision(1))
        for revision in 2..<20 {
            var changed: [TestPlace] = []
            let removed = places.shuffled(using: &generator).prefix(Int.random(in: 0..<40, using: &generator))
            places.removeAll { removed.contains($0) }
            for number in 0..<Int.random(in: 0..<60, using: &generator) {
                // Some are new, some move, and some come again.
                let id = [Int64(revision * 1000 + number), places.randomElement(using: &generator)?.id ?? 0]
                    .pick(using: &generator)
                guard !changed.contains(where: { $0.id == id }) else { continue }
                let position = kind.coordinate(around: focus, using: &generator)
                changed.append(TestPlace(id: id, at: position, using: &generator))
            }
            places.removeAll { place in changed.contains { $0.id == place.id } }
            places += changed
            snapshot = snapshot.applying(
                removedIDs: removed.map(\.id) + [-1], added: .packing(changed, snapshot.vocabulary),
                version: .revision(Int64(revision)))
            #expect(snapshot.placeCount == places.count)
            var queries = RandomQueries(places: places, focus: focus, generator: generator)
            for _ in 0..<12 {
                let comment = "\(kind) \(revision) POI_TEST_SEED=\(generator.seed)"
                guard expectExact(queries.next(), places, snapshot, comment) else { return }
            }
            generator = queries.generator
        }
        #expect(snapshot.partCount < 8)
    }

    static func places(
        of kind: PlaceKind, using generator: inout SeededGenerator
    ) -> (places: [TestPlace], focus: Coordinate) {
        let focus = Coordinate.anywhere(using: &generator)
        let coordinates = kind.coordinates(count: 400, around: focus, using: &generator)
        let ids = (0..<coordinates.count).map { Int64($0) * 7 - 100 }.shuffled(using: &generator)
        return (zip(ids, coordinates).map { TestPlace(id: $0, at: $1, using: &generator) }, focus)
    }
}

/// Expects the page that measuring every place gives; returns whether it is that.
func expectExact(
    _ query: TestQuery, _ places: [TestPlace], _ snapshot: IndexSnapshot, _ comment: String
) -> Bool {
    let truth = query.truth(of: places)
    let indexQuery = query.query(snapshot.vocabulary)
    let pages = [snapshot.search(indexQuery), snapshot.searchAtOnce(indexQuery)].compactMap { $0 }
    for page in pages {
        let isExact =
            page.placed.map(\.id) == truth.ids && truth.mayEnd(at: page.end)
            && zip(page.placed, truth.meters).allSatisfy {
                ($0.distanceMeters * 10).rounded() == ($1 * 10).rounded()
            }
        if !isExact {
            Issue.record("\(query): \(page) is not \(truth); \(comment)")
            return false
        }
    }
    return true
}

import Locking
import EventLoop
import Foundation
import POIService
import PointsOfInterestAPI
import Postgres
import Randomness
import Testing

@testable import POIDatabase

/// What requests see while somebody writes.
@Suite("While places move", .timeLimit(.minutes(5)))
struct MovingPlacesTests {
    /// All places after a commit, and what the database calls that state.
    private struct State {
        var places: [PointOfInterest]
        let datasetID: DatasetID
    }

    @Test("Every page is the exact one of a committed state, with that state's dataset")
    func moves() async throws {
        let generator = SeededGenerator()
        try await MigratedDatabase.empty().withStore(usesIndexAlways: true, listenMode: .off) {
            store, session in
            let states = Lock([
                State(
                    places: try await Self.insert(session, generator),
                    datasetID: try await Self.datasetID(session))
            ])
            let isOver = Lock(false)
            let bound = LoopBound(session, loop: store.pool.loop)
            let mover = Task(executorPreference: store.pool.loop) {
                var generator = generator
                while !isOver.withLock({ $0 }) {
                    guard let last = states.withLock({ $0.last }) else { return }
                    let places = try await Self.move(last.places, bound.value, &generator)
                    let id = try await Self.datasetID(bound.value)
                    states.withLock { $0.append(State(places: places, datasetID: id)) }
                }
            }
            store.wordStatements = WordStatements(fewLimit: 12, probeLimit: 60, nearbyLimit: 40)
            let first = try #require(states.withLock { $0.first })
            var requests = RandomRequests(
                about: first.places, around: Coordinate(wrapping: 0, 0), using: generator)
            var pages: [(request: NearbyPlacesRequest, page: RankedPage, start: Int)] = []
            // At least as many requests as moves.
            while pages.count < 150 || states.withLock({ $0.count }) < 150 {
                let request = requests.next()
                let start = states.withLock { $0.count - 1 }
                pages.append((request, try await store.places(for: request), start))
            }
            isOver.withLock { $0 = true }
            try await mover.value
            for (request, page, start) in pages {
                let later = states.withLock { $0[start...] }
                let state = later.first { $0.datasetID == page.datasetID }
                guard let state else {
                    Issue.record(
                        "\(request): no state since it was asked is \(String(describing: page.datasetID))")
                    continue
                }
                let truth = try await FixtureStore(state.places).places(for: request)
                let (places, trulyPlaces) = (try page.places.copied(), try truth.places.copied())
                #expect(places == trulyPlaces, "\(request); POI_TEST_SEED=\(generator.seed)")
                #expect(page.next == truth.next, "\(request); POI_TEST_SEED=\(generator.seed)")
            }
        }
    }

    private static func category(_ generator: inout SeededGenerator) -> String {
        ["cafe", "bar", "park"][Int.random(in: 0..<3, using: &generator)]
    }

    private static func datasetID(_ session: PostgresConnection) async throws -> DatasetID {
        try await session.value("SELECT id FROM dataset", as: DatasetID.self)
    }

    /// Some hundred places anywhere.
    private static func insert(
        _ session: PostgresConnection, _ generator: SeededGenerator
    ) async throws -> [PointOfInterest] {
        var generator = generator
        var places: [PointOfInterest] = []
        for number in 0..<300 {
            let coordinate = Coordinate.anywhere(using: &generator)
            let name = "\(PlaceNames.random(using: &generator)) \(number)"
            let category = category(&generator)
            let id = try await session.run(
                """
                INSERT INTO locations (name, category, latitude, longitude)
                VALUES ($1, $2, $3, $4) RETURNING id
                """,
                [.text(name), .text(category), .float8(coordinate.latitude), .float8(coordinate.longitude)]
            ).only().decode(Int.self, at: 0)
            places.append(
                PointOfInterest(
                    id: id, name: name, category: category, latitude: coordinate.latitude,
                    longitude: coordinate.longitude))
        }
        return places
    }

    /// Commits that a few places are elsewhere, with other names and categories.
    private static func move(
        _ places: [PointOfInterest], _ session: PostgresConnection, _ generator: inout SeededGenerator
    ) async throws -> [PointOfInterest] {
        var places = places
        let moved = (0..<Int.random(in: 1...20, using: &generator)).map { _ in
            Int.random(in: places.indices, using: &generator)
        }
        for index in Set(moved) {
            let old = places[index]
            let coordinate = Coordinate.anywhere(using: &generator)
            places[index] = PointOfInterest(
                id: old.id, name: "\(PlaceNames.random(using: &generator)) \(index)",
                category: category(&generator), latitude: coordinate.latitude,
                longitude: coordinate.longitude)
        }
        let changed = Set(moved).map { places[$0] }
        try await session.run(
            """
            UPDATE locations SET name = new.name, category = new.category, latitude = new.latitude,
                longitude = new.longitude
            FROM unnest($1::bigint[], $2::text[], $3::text[], $4::float8[], $5::float8[])
                AS new (id, name, category, latitude, longitude)
            WHERE locations.id = new.id
            """,
            [
                .int8Array(changed.map { Int64($0.id) }), .textArray(changed.map(\.name)),
                .textArray(changed.map(\.category)), .float8Array(changed.map(\.latitude)),
                .float8Array(changed.map(\.longitude)),
            ])
        return places
    }
}

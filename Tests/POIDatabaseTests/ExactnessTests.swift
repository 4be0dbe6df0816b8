import POIService
import PointsOfInterestAPI
import Postgres
import Randomness
import Testing

@testable import POIDatabase

/// PostgreSQL against the plainest truth there is: measuring every place.
@Suite("The database's answers are exact", .timeLimit(.minutes(5)))
struct ExactnessTests {
    /// More places than `LocationStatements.manyNearest` proposes, where those are not to be enough.
    private static func size(of dataset: Dataset) -> (places: Int, questions: Int) {
        dataset.isCrowded ? (1600, 250) : (400, 1000)
    }

    @Test("Whatever the places, the centre, the radius and the limit", arguments: Dataset.allCases)
    func exactness(of dataset: Dataset) async throws {
        let generator = SeededGenerator()
        let database = try MigratedDatabase.empty()
        let questionCount = Self.size(of: dataset).questions
        let (nearby, searched) = try await database.withStore(usesIndexAlways: true) { store, session in
            var questions = try await Self.questions(about: dataset, using: generator, session)
            for _ in 0..<questionCount {
                let request = questions.next()
                let answer = try await store.locations(for: request).places.copied()
                let truth = try await questions.truth.locations(for: request).places.copied()
                guard answer == truth else {
                    Issue.record("\(request): \(answer) is not \(truth); POI_TEST_SEED=\(generator.seed)")
                    break
                }
            }
            return (store.nearbyCount, store.searchCount)
        }
        // Both ways to an answer are taken.
        #expect(searched > 0, "POI_TEST_SEED=\(generator.seed)")
        if dataset == .towns { #expect(nearby > 0, "POI_TEST_SEED=\(generator.seed)") }
        try database.drop()
    }

    /// Writes places, and reads them back as they are stored.
    private static func questions(
        about dataset: Dataset, using generator: SeededGenerator, _ session: PostgresConnection
    ) async throws -> Questions {
        var generator = generator
        let focus = Coordinate.anywhere(using: &generator)
        let coordinates = dataset.places(
            count: size(of: dataset).places, around: focus, using: &generator)
        let rows = try await session.run(
            """
            INSERT INTO locations (name, category, latitude, longitude)
            SELECT 'place ' || number, 'museum', latitude, longitude
            FROM unnest($1::float8[], $2::float8[]) WITH ORDINALITY AS place (latitude, longitude, number)
            RETURNING id, name, latitude, longitude
            """,
            [.float8Array(coordinates.map(\.latitude)), .float8Array(coordinates.map(\.longitude))])
        #expect(rows.count == coordinates.count)
        let places = try rows.map { row in
            PointOfInterest(
                id: try row.decode(at: 0), name: try row.decode(at: 1), category: "museum",
                latitude: try row.decode(at: 2), longitude: try row.decode(at: 3))
        }
        return Questions(about: places, around: focus, using: generator)
    }

    @Test("Every column arrives")
    func columns() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(
            """
            INSERT INTO locations (name, category, latitude, longitude, featured, address, website,
                source_dataset, source_id, source_license)
            VALUES ('Caffè "Zoë"', 'cafe', 1, 2, true, '1 Way', 'https://example.org/', 'set', 'a-1', 'CC0-1.0'),
                ('Plain', 'park', 1, 2, false, NULL, NULL, NULL, NULL, NULL)
            """)
        let answer = try await database.withStore { store, _ in
            try await store.locations(for: LocationsRequest(center: Coordinate(latitude: 1, longitude: 2)))
                .places.copied()
        }
        #expect(
            answer == [
                PointOfInterest(
                    id: 1, name: "Caffè \"Zoë\"", category: "cafe", latitude: 1, longitude: 2, featured: true,
                    distance: 0, address: "1 Way", website: "https://example.org/",
                    source: .init(dataset: "set", id: "a-1", license: "CC0-1.0")),
                PointOfInterest(
                    id: 2, name: "Plain", category: "park", latitude: 1, longitude: 2, distance: 0),
            ])
    }
}

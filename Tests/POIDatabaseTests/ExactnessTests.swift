import BruteForce
import PointsOfInterestServerAPI
import DifficultPlaces
import Foundation
import Geodesy
import Places
import PointsOfInterestAPI
import Postgres
import Randomness
import Testing

@testable import POIDatabase

/// How many requests about each kind of places; `scripts/soak` sends many more.
private let requestCount =
    ProcessInfo.processInfo.environment["POI_TEST_QUESTIONS"].flatMap { Int($0) } ?? 100

/// Compares the places in memory, and the statement of PostGIS, with the measuring of every place.
@Suite("Pages are exact, with an index and without", .timeLimit(.minutes(requestCount > 200 ? 60 : 5)))
struct ExactnessTests {
    /// More places on one point than a page has, where that has to happen, and therefore fewer requests.
    private static func size(of kind: PlaceKind) -> (places: Int, requests: Int, walks: Int) {
        kind.isCrowded
            ? (1600, requestCount * 3 / 8, requestCount / 30) : (400, requestCount, requestCount / 30)
    }

    @Test("A page is exact for any places, centre, radius and limit", arguments: PlaceKind.allCases)
    func exactness(of kind: PlaceKind) async throws {
        let generator = SeededGenerator()
        let database = try MigratedDatabase.empty()
        try await database.withFollower { followed in
            var requests = try await Self.requests(about: kind, using: generator, followed.session)
            try await followed.waitForNewest()
            for _ in 0..<Self.size(of: kind).requests {
                let request = requests.next()
                let truth = try await requests.truth.places(for: request)
                let page = try await followed.pageInMemory(request)
                let (end, datasetID) = (page.end, page.datasetID)
                let places = try page.places.copied(languages: request.languages)
                guard places == truth.places, end == truth.end, datasetID != nil else {
                    Issue.record(
                        "\(request): \(places) is not \(truth.places); POI_TEST_SEED=\(generator.seed)")
                    return
                }
            }
        }
        try database.drop()
    }

    @Test(
        "Without an index a page is exact to a micrometre, which is what PostGIS measures",
        arguments: PlaceKind.allCases, [false, true])
    func exactnessOfTheStatement(of kind: PlaceKind, usesIndexAlways: Bool) async throws {
        let generator = SeededGenerator()
        let database = try MigratedDatabase.empty()
        try await database.withStore(usesIndexAlways: usesIndexAlways) { store, session in
            var requests = try await Self.requests(about: kind, using: generator, session)
            for _ in 0..<Self.size(of: kind).requests / 2 {
                let request = requests.nextWithoutIndex()
                let truth = try await requests.truth.places(for: request).places
                let page = try await store.places(for: request)
                let datasetID = page.datasetID
                let places = try page.places.copied(languages: request.languages)
                guard places.isSame(as: truth, of: request), datasetID != nil else {
                    Issue.record("\(request): \(places) is not \(truth); POI_TEST_SEED=\(generator.seed)")
                    return
                }
            }
        }
        try database.drop()
    }

    @Test("Every page follows from the one before, to the end", arguments: PlaceKind.allCases, [false, true])
    func pages(of kind: PlaceKind, isInMemory: Bool) async throws {
        let generator = SeededGenerator()
        let database = try MigratedDatabase.empty()
        try await database.withFollower { followed in
            var requests = try await Self.requests(about: kind, using: generator, followed.session)
            try await followed.waitForNewest()
            for _ in 0..<Self.size(of: kind).walks {
                var request = isInMemory ? requests.next() : requests.nextWithoutIndex()
                let sizes = requests.pageSizes()
                let whole = try await requests.allIDs(request)
                var walked: [Int] = []
                var turn = 0
                while true {
                    request.limit = sizes[turn % sizes.count]
                    turn += 1
                    let page =
                        try await isInMemory
                        ? followed.pageInMemory(request) : followed.database.places(for: request)
                    let (count, pageEnd) = (page.places.count, page.end)
                    walked += try page.places.copied().map(\.id)
                    guard let end = pageEnd else { break }
                    #expect(end.count == walked.count)
                    #expect(count == request.limit)
                    request.cursor = PageCursor(end, in: request)
                }
                // Without an index, the places at one distance to a micrometre may change places.
                guard isInMemory ? walked == whole : walked.count == whole.count && Set(walked) == Set(whole)
                else {
                    Issue.record("\(request): \(walked) is not \(whole); POI_TEST_SEED=\(generator.seed)")
                    break
                }
            }
        }
        try database.drop()
    }

    @Test(
        "Each page continues the one before, in the places of its time, while places are added between pages",
        arguments: PlaceKind.allCases)
    func growth(of kind: PlaceKind) async throws {
        let seeded = SeededGenerator()
        let database = try MigratedDatabase.empty()
        try await database.withFollower { followed in
            var generator = seeded
            let focus = Coordinate.anywhere(using: &generator)
            var places = try await Self.insert(
                kind.coordinates(count: Self.size(of: kind).places / 2, around: focus, using: &generator),
                numberedFrom: 0, using: &generator, followed.session)
            var requests = RandomRequests(about: places, around: focus, using: generator)
            for _ in 0..<Self.size(of: kind).walks {
                var request = requests.next()
                request.limit = requests.pageSizes()[0]
                for turn in 0..<6 {
                    places += try await Self.insert(
                        kind.coordinates(count: 5, around: focus, using: &generator),
                        numberedFrom: places.count, using: &generator, followed.session)
                    let newest = try await followed.datasetID()
                    try await followed.wait { followed.servedID == newest }
                    let truth = try await Truth(places).places(for: request)
                    let page = try await followed.pageInMemory(request)
                    let pageEnd = page.end
                    guard try page.places.copied(languages: request.languages) == truth.places,
                        pageEnd == truth.end
                    else {
                        Issue.record("\(request), page \(turn); POI_TEST_SEED=\(generator.seed)")
                        return
                    }
                    guard let end = pageEnd else { break }
                    request.cursor = PageCursor(end, in: request)
                }
            }
        }
        try database.drop()
    }

    /// Writes places, and asks about them.
    private static func requests(
        about kind: PlaceKind, using generator: SeededGenerator, _ session: PostgresConnection
    ) async throws -> RandomRequests {
        var generator = generator
        let focus = Coordinate.anywhere(using: &generator)
        let coordinates = kind.coordinates(
            count: size(of: kind).places, around: focus, using: &generator)
        let places = try await insert(coordinates, numberedFrom: 0, using: &generator, session)
        return RandomRequests(about: places, around: focus, using: generator)
    }

    /// Writes places, and reads them back as they are stored.
    private static func insert(
        _ coordinates: [Coordinate], numberedFrom first: Int, using generator: inout SeededGenerator,
        _ session: PostgresConnection
    ) async throws -> [StoredPlace] {
        // The number is a word that few have.
        let names = coordinates.indices.map { "\(PlaceNames.random(using: &generator)) \(first + $0)" }
        let categories = coordinates.map { _ in
            ["museum", "cafe", "park", "cafe", "bar"][
                min(4, Int.random(in: 0..<40, using: &generator) / 9)]
        }
        let featured = coordinates.map { _ in Int.random(in: 0..<10, using: &generator) == 0 }
        let datasets = coordinates.map { _ in
            (RandomRequests.datasets + ["", ""])[Int.random(in: 0..<5, using: &generator)]
        }
        let namesInLanguages = coordinates.map { _ in RandomRequests.names(using: &generator) }
        let namesJSON = try namesInLanguages.map {
            String(decoding: try JSONEncoder().encode($0), as: UTF8.self)
        }
        let otherNames = coordinates.map { _ in
            (0..<max(0, Int.random(in: -5...2, using: &generator))).map { _ in
                PlaceNames.random(using: &generator)
            }
        }
        let statuses = coordinates.map { _ in
            ["", "", "", "", "", "", "temporarilyClosed", "permanentlyClosed"].pick(using: &generator)
        }
        try await session.run(
            "UPDATE categories SET labels = value FROM jsonb_each($1::text::jsonb) WHERE name = key",
            [.text(String(decoding: try JSONEncoder().encode(Truth.labels), as: UTF8.self))])
        let rows = try await session.run(
            """
            INSERT INTO locations (name, category, latitude, longitude, featured, names, other_names,
                source_dataset, source_id, source_license, operating_status)
            SELECT name, category, latitude, longitude, featured = 1, nullif(names, '{}')::jsonb,
                string_to_array(nullif(other_names, ''), E'\n'),
                nullif(dataset, ''), CASE WHEN dataset <> '' THEN name END, CASE WHEN dataset <> '' THEN 'CC0-1.0' END,
                nullif(status, '')
            FROM unnest($1::float8[], $2::float8[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[])
                AS place (latitude, longitude, name, category, featured, dataset, names, other_names, status)
            RETURNING id, name, category, latitude, longitude, featured, source_dataset, source_id,
                operating_status
            """,
            [
                .float8Array(coordinates.map(\.latitude)), .float8Array(coordinates.map(\.longitude)),
                .textArray(names), .textArray(categories), .int8Array(featured.map { $0 ? 1 : 0 }),
                .textArray(datasets), .textArray(namesJSON),
                .textArray(otherNames.map { $0.joined(separator: "\n") }), .textArray(statuses),
            ])
        #expect(rows.count == coordinates.count)
        return try zip(rows, zip(namesInLanguages, otherNames)).map { row, names in
            let place = PointOfInterest(
                id: try row.decode(at: 0), name: try row.decode(at: 1), category: try row.decode(at: 2),
                latitude: try row.decode(at: 3), longitude: try row.decode(at: 4),
                featured: try row.decode(at: 5),
                source: try row.decode(String?.self, at: 6).map {
                    PointOfInterest.Source(dataset: $0, id: try row.decode(at: 7), license: "CC0-1.0")
                }, operatingStatus: try row.decode(String?.self, at: 8).map(OperatingStatus.init))
            return StoredPlace(place, names: names.0, otherNames: names.1)
        }
    }
}

extension [PointOfInterest] {
    /// Whether these are the places of a request as `truth` has them, but for the order of places, and whether they are within
    /// the radius, where less than a micrometre decides.
    func isSame(as truth: [PointOfInterest], of request: NearbyPlacesRequest) -> Bool {
        guard let center = request.center else { return self == truth }
        func meters(_ place: PointOfInterest) -> Double {
            Geodesic.distanceMeters(
                from: center,
                to: Candidate(id: Int64(place.id), latitude: place.latitude, longitude: place.longitude))
        }
        let known = Dictionary(uniqueKeysWithValues: truth.map { ($0.id, $0) })
        guard Set(map(\.id)).count == count else { return false }
        for place in self {
            guard let distance = place.distance, abs(distance - meters(place)) < 0.051 else { return false }
            if let other = known[place.id], other.at(distance: distance) != place { return false }
        }
        guard zip(self, truth).allSatisfy({ abs(meters($0) - meters($1)) < 1e-6 }) else { return false }
        let rest = dropFirst(truth.count) + truth.dropFirst(count)
        return rest.allSatisfy { abs(meters($0) - (request.radiusMeters ?? .infinity)) < 1e-6 }
    }
}

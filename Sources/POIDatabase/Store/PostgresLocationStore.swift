import EventLoop
import Migrator
import POIService
import PointsOfInterestAPI
import Postgres

/// The places in PostgreSQL: the database proposes candidates, `Ranking` makes them the exact answer.
///
/// Belongs to one loop, on which it has connections of its own.
public final class PostgresLocationStore: LocationStore {
    private let pool: ConnectionPool
    private let schemaCheck: SchemaCheck
    /// How many answers took many candidates, and how many of those took all places within a distance.
    private(set) var (secondFetchCount, thirdFetchCount) = (0, 0)

    /// Starts connecting.
    ///
    /// - Parameter migrations: the migrations that this binary relies on.
    public init(configuration: DatabaseConfiguration, migrations: MigrationDirectory, loop: EventLoop) {
        pool = ConnectionPool(configuration.postgres, options: configuration.pool, loop: loop)
        schemaCheck = SchemaCheck(migrations: migrations)
    }

    /// Asks for a few candidates more than places; where that proves nothing, for many; and at last for all
    /// that could belong to the answer.
    public func locations(
        for request: LocationsRequest
    ) async throws(LocationStoreError) -> LocationsPage {
        guard let ranking = Ranking(pageOf: request) else {
            return LocationsPage(places: [PointOfInterest]())
        }
        let (page, next) = try await page(ranking)
        return LocationsPage(places: page, next: next)
    }

    private func page(_ ranking: Ranking) async throws(LocationStoreError) -> (RankedRows, PagePosition?) {
        do throws(PostgresError) {
            let answer = try await places(ranking)
            var candidates: [Candidate] = []
            for row in answer.rows { candidates.append(try LocationRow(row).candidate()) }
            let page = ranking.page(of: answer.placed, from: candidates)
            return (RankedRows(rows: answer.rows, placed: page.placed), page.next)
        } catch {
            throw LocationStoreError(error)
        }
    }

    private func places(_ ranking: Ranking) async throws(PostgresError) -> RankedRows {
        guard let nearest = LocationStatements.nearest(limit: ranking.limit) else {
            throw PostgresError(.parameterMismatch)
        }
        if case .proven(let places) = try await ask(nearest, lane: .fast, by: ranking) { return places }
        secondFetchCount += 1
        // How long the others take depends on the data, so they don't go where they would hold up fast ones.
        switch try await ask(LocationStatements.manyNearest, lane: .exclusive, by: ranking) {
        case .proven(let places): return places
        case .unproven(let distanceMeters, let chordMeters):
            return try await allPlaces(within: distanceMeters, chordMeters: chordMeters, by: ranking)
        }
    }

    /// What came of a fetch of candidates.
    private enum Answer {
        case proven(RankedRows)
        case unproven(distanceMeters: Double, chordMeters: Double)
    }

    private func ask(
        _ nearest: LocationStatements.Nearest, lane: PoolLaneName, by ranking: Ranking
    ) async throws(PostgresError) -> Answer {
        let rows = try await pool.query(
            nearest.statement, center(of: ranking), lane: lane, isIdempotent: true)
        let placed = try rank(rows, by: ranking)
        let fetch = Ranking.Fetch(
            candidateLimit: nearest.candidateLimit, candidateCount: rows.count,
            lastChordMeters: try rows.last.map { row throws(PostgresError) in
                try LocationRow(row).chordMeters()
            })
        switch ranking.verdict(on: placed, after: fetch) {
        case .complete: return .proven(RankedRows(rows: rows, placed: placed))
        case .fetchAll(let distanceMeters, let chordMeters):
            return .unproven(distanceMeters: distanceMeters, chordMeters: chordMeters)
        }
    }

    private func allPlaces(
        within distanceMeters: Double, chordMeters: Double, by ranking: Ranking
    ) async throws(PostgresError) -> RankedRows {
        thirdFetchCount += 1
        let rows = try await pool.query(
            LocationStatements.within, center(of: ranking) + [.float8(chordMeters), .float8(distanceMeters)],
            lane: .exclusive, isIdempotent: true)
        return RankedRows(rows: rows, placed: try rank(rows, by: ranking))
    }

    private func center(of ranking: Ranking) -> [PostgresValue] {
        [.float8(ranking.center.latitude), .float8(ranking.center.longitude)]
    }

    private func rank(_ rows: PostgresRows, by ranking: Ranking) throws(PostgresError) -> [Ranking.Placed] {
        var candidates: [Candidate] = []
        candidates.reserveCapacity(rows.count)
        for row in rows { candidates.append(try LocationRow(row).candidate()) }
        return ranking.rank(candidates)
    }

    public var currentDatasetID: DatasetID? { nil }
    public var vocabulary: CategoryVocabulary? { nil }
    public func currentVocabulary() async throws(LocationStoreError) -> CategoryVocabulary {
        CategoryVocabulary([])
    }
    public func location(for request: LocationRequest) async throws(LocationStoreError) -> LocationsPage {
        LocationsPage(places: [PointOfInterest]())
    }
    public func categories() async throws(LocationStoreError) -> CategoryCounts {
        CategoryCounts(categories: [])
    }

    /// Whether the database answers, and has every migration that this binary relies on.
    public func checkHealth() async -> StoreHealth {
        await schemaCheck.run(on: pool)
    }

    /// Closes the connections.
    public func close() async {
        await pool.close()
    }
}

import EventLoop
import Migrator
import POIService
import PointsOfInterestAPI
import Postgres

/// The places in PostgreSQL: the database proposes candidates, `Ranking` makes them the exact answer.
///
/// Belongs to one loop, on which it has connections of its own.
public final class PostgresLocationStore: LocationStore {
    let pool: ConnectionPool
    let dataset: DatasetState
    let route: ReadRoute?
    private let reads: ReadConnections
    private let watch: DatabaseWatch?
    private let schemaCheck: SchemaCheck
    /// For tests, whose words are rare.
    var wordStatements = WordStatements.standard
    private let requestTimeout: Duration
    private var regions = InhabitedRegions()
    /// How many pages came by the walk to the nearest places, and how many by a search; cubes looked into.
    private(set) var (nearbyCount, searchCount, cubeCount) = (0, 0, 0)

    /// Starts connecting.
    ///
    /// - Parameters:
    ///   - migrations: the migrations that this binary relies on.
    ///   - dataset: what the process knows of the data; the first store that is made with it keeps it fresh.
    ///   - route: where reads go, if they have an address of their own; the same for all stores of a process.
    ///   - connectionLog: logs what happens to connections; the same for all stores of a process.
    ///   - record: gets what happens to the servers for reads.
    public init(
        configuration: DatabaseConfiguration, migrations: MigrationDirectory, loop: EventLoop,
        dataset: DatasetState = DatasetState(), route: ReadRoute? = nil, connectionLog: ConnectionLog? = nil,
        record: @escaping @Sendable (Observation) -> Void = { _ in }
    ) {
        let route = route ?? ReadRoute(configuration)
        self.route = route
        let connectionLog = connectionLog ?? ConnectionLog(.places, record: record)
        reads = ReadConnections(configuration, route: route, loop: loop, observe: connectionLog.observe)
        pool = reads.pool
        schemaCheck = SchemaCheck(migrations: migrations)
        self.dataset = dataset
        requestTimeout = configuration.requestTimeout
        watch =
            dataset.claimWatch()
            ? DatabaseWatch(
                configuration, reads: pool, route: route, dataset: dataset, connectionLog: connectionLog,
                record: record)
            : nil
    }

    /// When a request that begins now must have ended, by the loop's clock.
    var deadline: Duration { pool.loop.now + requestTimeout }

    /// Answers by the places nearest by the chord where those are known to be near, else by a search in one snapshot.
    public func locations(
        for request: LocationsRequest
    ) async throws(LocationStoreError) -> LocationsPage {
        guard let ranking = Ranking(pageOf: request) else {
            return LocationsPage(places: [PointOfInterest]())
        }
        let (start, deadline) = (ContinuousClock.now, deadline)
        let search = PlaceSearch(
            request, ranking, statements: wordStatements, looksNearby: regions[ranking.center])
        do throws(PostgresError) {
            let answer =
                if let nearest = try await nearest(search, deadline) { nearest } else {
                    try await found(by: search, deadline)
                }
            return LocationsPage(
                places: answer.places, next: answer.next, datasetID: answer.datasetID,
                databaseDuration: ContinuousClock.now - start)
        } catch {
            throw LocationStoreError(error, isOverdue: pool.loop.now >= deadline)
        }
    }

    /// The page by the places nearest by the chord; nil where those aren't known to be near, or don't prove it.
    private func nearest(
        _ search: PlaceSearch, _ deadline: Duration
    ) async throws(PostgresError) -> PlaceSearch.Answer? {
        let ranking = search.ranking
        // Behind a cursor, the places before it have to be walked past.
        let (depth, overflow) = (ranking.after?.count ?? 0).addingReportingOverflow(ranking.limit)
        guard search.filter.isEmpty, search.request.box == nil, !overflow, regions[ranking.center],
            let nearest = LocationStatements.nearest(limit: depth - 1)
        else { return nil }
        let answer = try await walk(search, nearest, deadline)
        if answer != nil { nearbyCount += 1 }
        return answer
    }

    /// The page that a walk to the nearest places by the chord proves.
    func walk(
        _ search: PlaceSearch, _ nearest: LocationStatements.Nearest, _ deadline: Duration
    ) async throws(PostgresError) -> PlaceSearch.Answer? {
        let rows = try await read(nearest.statement, search.centerParameters, deadline)
        return try search.page(of: rows) { lastChordMeters in
            Ranking.Fetch(
                candidateLimit: nearest.candidateLimit, candidateCount: rows.count,
                lastChordMeters: lastChordMeters)
        }
    }

    /// The page by a search. Those by text have connections of their own: some of them take long.
    private func found(
        by search: PlaceSearch, _ deadline: Duration
    ) async throws(PostgresError) -> PlaceSearch.Answer {
        let lane = search.filter.words == nil ? PoolLaneName.exclusive : .text
        let answer = try await pool.withSnapshot(lane: lane, deadline: deadline) {
            snapshot throws(PostgresError) in
            try await search.page(in: snapshot)
        }
        searchCount += 1
        cubeCount += answer.cubeCount
        if search.filter.isEmpty, search.request.box == nil, search.ranking.after == nil {
            learn(from: answer, search.ranking)
        }
        return answer
    }

    /// Runs a single statement, and once more where a standby has ended it for what it had to replay.
    func read(
        _ statement: PreparedStatement, _ parameters: [PostgresValue], _ deadline: Duration
    ) async throws(PostgresError) -> PostgresRows {
        do throws(PostgresError) {
            return try await pool.query(
                statement, parameters, lane: .fast, deadline: deadline, isIdempotent: true)
        } catch {
            guard error.isReplayConflict else { throw error }
            return try await pool.query(
                statement, parameters, lane: .fast, deadline: deadline, isIdempotent: true)
        }
    }

    /// Takes the walk from here on, or not, by how far the last of a whole page was.
    private func learn(from answer: PlaceSearch.Answer, _ ranking: Ranking) {
        guard ranking.radiusMeters == nil || answer.next != nil else { return }
        let last = answer.next?.distanceMeters ?? .infinity
        regions[ranking.center] = last < InhabitedRegions.greatestDistanceMeters
    }

    /// What the last renewal of the data told.
    public var currentDatasetID: DatasetID? { dataset.datasetID }

    /// The categories that there were then.
    public var vocabulary: CategoryVocabulary? { dataset.vocabulary }

    /// Whether the database answers, and has every migration that this binary relies on.
    public func checkHealth() async -> StoreHealth {
        await schemaCheck.run(on: pool)
    }

    /// Closes the connections.
    public func close() async {
        await watch?.close()
        await reads.close()
    }
}

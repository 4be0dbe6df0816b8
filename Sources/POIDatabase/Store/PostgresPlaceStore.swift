import EventLoop
import Migrator
import POIService
import PointsOfInterestAPI
import Postgres

/// The places in PostgreSQL: the database proposes candidates, `Ranking` makes them the exact answer.
///
/// Belongs to one loop, on which it has connections of its own.
public final class PostgresPlaceStore: PlaceStore {
    let pool: ConnectionPool
    let dataset: DatasetState
    let route: ReadRoute?
    private let reads: ReadConnections
    private let watch: DatabaseWatch?
    private let schemaCheck: SchemaCheck
    /// For tests, whose words are rare.
    var wordStatements = WordStatements.standard
    private let requestTimeout: Duration
    /// After so long the warm start asks no new question: a slow database mustn't keep the process from being ready.
    var learningLimit = Duration.seconds(10)
    /// The count of categories that this store has begun, while it is under way.
    var countingTask: Task<Void, Never>?
    private(set) var isClosing = false
    /// How many pages came by the walk to the nearest places, and how many by a search.
    private(set) var (nearbyCount, searchCount) = (0, 0)
    /// Walks begun, and cubes looked into.
    var (walkCount, cubeCount) = (0, 0)

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
    public func places(
        for request: NearbyPlacesRequest
    ) async throws(PlaceStoreError) -> RankedPage {
        guard let ranking = Ranking(pageOf: request) else {
            return RankedPage(places: [PointOfInterest]())
        }
        let (start, deadline) = (ContinuousClock.now, deadline)
        let search = PlaceSearch(request, ranking, statements: wordStatements)
        do throws(PostgresError) {
            let answer: PlaceSearch.Answer
            if let page = try await nearby(search, deadline) {
                answer = page
                nearbyCount += 1
            } else {
                answer = try await anywhere(search, deadline)
                searchCount += 1
            }
            return RankedPage(
                places: answer.places, next: answer.next, datasetID: answer.datasetID,
                databaseDuration: ContinuousClock.now - start)
        } catch {
            throw PlaceStoreError(error, isOverdue: pool.loop.now >= deadline)
        }
    }

    /// Runs a single statement that reads.
    func read(
        _ statement: PreparedStatement, _ parameters: [PostgresValue], _ deadline: Duration
    ) async throws(PostgresError) -> PostgresRows {
        try await pool.query(statement, parameters, lane: .fast, deadline: deadline, isIdempotent: true)
    }

    /// What the last renewal of the data told.
    public var currentDatasetID: DatasetID? { dataset.datasetID }

    /// The categories that there were then.
    public var vocabulary: CategoryVocabulary? { dataset.vocabulary }

    /// Whether the database answers, and has every migration that this binary relies on. Before the first time
    /// that it does, a store of the process learns where places are, so that nothing is cold once it is ready.
    public func checkHealth() async -> StoreHealth {
        let health = await schemaCheck.run(on: pool)
        if health == .reachable(missingMigrations: []) { await learnRegionsOnce() }
        return health
    }

    /// Abandons a count that is under way, and closes the connections.
    public func close() async {
        isClosing = true
        while let task = countingTask {
            task.cancel()
            await task.value
        }
        await watch?.close()
        await reads.close()
    }
}

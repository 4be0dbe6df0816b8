import PointsOfInterestServerAPI
import EventLoop
import Migrator
import Places
import PointsOfInterestAPI
import Postgres
import Telemetry

/// Answers each request by asking PostgreSQL, with the statement that shows what the service is: the nearest places by
/// PostGIS' distance, a page at a time. Without an index in memory (`POI_INDEX=off`); for few places.
///
/// Belongs to one loop, on which it has connections of its own.
package final class PostgresPlaceStore: PlaceStore {
    let pool: ConnectionPool
    private let schemaCheck: SchemaCheck
    private let requestTimeout: Duration
    /// The names that were read last. Outdated names do no harm: a name that is gone matches no place.
    package private(set) var vocabulary: FilterVocabulary?
    private var (categoryCounts, attributionCounts):
        (DatasetCounts<CategoryCount>?, DatasetCounts<Attribution>?)

    /// Starts connecting.
    package init(
        configuration: DatabaseConfiguration, migrations: MigrationDirectory, loop: EventLoop,
        connectionLog: ConnectionLog? = nil
    ) {
        pool = ConnectionPool(
            configuration.postgres, options: configuration.pool, loop: loop,
            observe: { connectionLog?.observe($0) })
        schemaCheck = SchemaCheck(migrations: migrations)
        requestTimeout = configuration.requestTimeout
    }

    /// Nil: nothing is known of the dataset that isn't asked for.
    package var currentDatasetID: DatasetID? { nil }

    /// Reads the names that requests may filter by.
    package func currentVocabulary() throws(PlaceStoreError) -> Stored<FilterVocabulary> {
        read { [self] deadline throws(PostgresError) in
            let row = try await query(PlaceStatements.vocabulary, deadline).only()
            let read = try FilterVocabulary(row)
            vocabulary = read
            return read
        }
    }

    /// Asks for the places with some ids, or for those of a page and one more, which tells whether another page follows.
    package func places(
        for request: NearbyPlacesRequest, from client: @autoclosure () -> IPAddress
    ) throws(PlaceStoreError) -> Stored<RankedPage> {
        guard request.sort == nil, request.box == nil, request.filter.searchText == nil,
            !request.filter.hasPropertyFilters
        else { throw .indexRequired }
        return read { [self] deadline throws(PostgresError) in
            let start = ContinuousClock.now
            let rows = try await query(PlaceStatements.places(request), deadline)
            return try RankedPage(rows, of: request, after: ContinuousClock.now - start)
        }
    }

    /// Asks for the place with an id, and what became of it.
    package func place(for request: PlaceRequest) throws(PlaceStoreError) -> Stored<RankedPage> {
        read { [self] deadline throws(PostgresError) in
            let (start, byID) = (ContinuousClock.now, NearbyPlacesRequest(request))
            let rows = try await query(PlaceStatements.places(byID), deadline)
            return try RankedPage(
                place: Int64(request.id), rows, of: byID, after: ContinuousClock.now - start)
        }
    }

    /// Has no clusters.
    package func clusters(
        for request: ClustersRequest, from client: @autoclosure () -> IPAddress
    ) throws(PlaceStoreError) -> Stored<ClusterPage> {
        throw .indexRequired
    }

    /// The number of places of each category.
    package func categories() throws(PlaceStoreError) -> Stored<DatasetCounts<CategoryCount>> {
        read { [self] deadline throws(PostgresError) in
            var labels = CategoryLabels.none
            let counts = try await counts(categoryCounts, PlaceStatements.categories, deadline) {
                (row) throws(PostgresError) in
                labels.add(try CategoryLabels(row, at: 3))
                return CategoryCount(name: try row.decode(at: 1), count: try row.decode(at: 2))
            } labels: {
                labels
            }
            categoryCounts = counts
            return counts
        }
    }

    /// The source datasets with the number of their places.
    package func attributions() throws(PlaceStoreError) -> Stored<DatasetCounts<Attribution>> {
        read { [self] deadline throws(PostgresError) in
            let counts = try await counts(attributionCounts, PlaceStatements.attributions, deadline) {
                (row) throws(PostgresError) in
                guard let name: String = try row.decode(String?.self, at: 1) else { return nil }
                return Attribution(
                    dataset: name, license: try row.decode(at: 2), credit: try row.decode(at: 3),
                    url: try row.decode(at: 4), places: try row.decode(at: 5))
            }
            attributionCounts = counts
            return counts
        }
    }

    /// The last counts, or new ones where the data have changed since.
    private func counts<Item>(
        _ last: DatasetCounts<Item>?, _ statement: PostgresQuery, _ deadline: Duration,
        _ item: (PostgresRow) throws(PostgresError) -> Item?,
        labels: () -> CategoryLabels = { .none }
    ) async throws(PostgresError) -> DatasetCounts<Item> {
        let start = ContinuousClock.now
        let version = try await query(PlaceStatements.version, deadline).only()
            .decode(DatasetVersion?.self, at: 0)
        if let last, last.datasetID == version?.datasetID { return last }
        var (items, counted): ([Item], DatasetVersion?) = ([], nil)
        for row in try await query(statement, deadline) {
            counted = try row.decode(at: 0)
            if let item = try item(row) { items.append(item) }
        }
        return DatasetCounts(
            items, labels: labels(), datasetID: counted?.datasetID,
            databaseDuration: ContinuousClock.now - start)
    }

    // MARK: State

    /// Whether the database responds and has every migration that this binary relies on.
    package func checkHealth() async -> StoreHealth? {
        await schemaCheck.run { [pool] (statement) throws(PostgresError) in
            try await pool.query(statement, timeout: StoreHealth.maximumQueryTime, isIdempotent: true)
        }
    }

    /// The state of the connections.
    package func collectMetrics(into snapshot: inout MetricsSnapshot) {
        snapshot.add(pool.statistics, to: .places)
    }

    /// Closes the connections.
    package func close() async { await pool.close() }

    // MARK: Reading

    /// Returns a value that `body` reads from the database once it is awaited, until the request's time is up.
    private func read<Value>(
        _ body: @escaping (_ deadline: Duration) async throws(PostgresError) -> Value
    ) -> Stored<Value> {
        .later { [self] () throws(PlaceStoreError) in
            let deadline = pool.loop.now + requestTimeout
            do throws(PostgresError) {
                return try await body(deadline)
            } catch {
                throw PlaceStoreError(error, isOverdue: pool.loop.now >= deadline)
            }
        }
    }

    private func query(_ query: PostgresQuery, _ deadline: Duration) async throws(PostgresError)
        -> PostgresRows
    {
        try await pool.query(query, deadline: deadline, isIdempotent: true)
    }
}

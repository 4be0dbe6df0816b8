import EventLoop
import Migrator
import Places
import PointsOfInterestAPI
import Postgres
import Program
import Telemetry

/// Reads places from PostgreSQL: the database proposes candidates, and `Ranking` makes the exact page of them.
///
/// Belongs to one loop, on which it has connections of its own.
public final class PostgresPlaceStore: PlaceStore {
    let pool: ConnectionPool
    let dataset: DatasetState
    let route: ReadRoute?
    private let reads: ReadConnections
    private let watch: DatabaseWatch?
    private let schemaCheck: SchemaCheck
    var requestTimeout: Duration
    /// The counts that this store has begun, while they are under way.
    private let counting: LoopTasks
    private var isClosing = false
    /// How many pages a few candidates proved, and how many needed more candidates; tests check which way was taken.
    private(set) var (quickCount, searchCount) = (0, 0)

    /// Starts connecting.
    ///
    /// - Parameters:
    ///   - migrations: the migrations that this binary relies on.
    ///   - dataset: what the process knows about the data; the first store that is made with it keeps it up to date.
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
        counting = LoopTasks(loop: loop)
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

    /// The time by the loop's clock at which a request that begins now must have ended.
    var deadline: Duration { pool.loop.now + requestTimeout }

    /// Asks PostgreSQL for a few places nearest by the chord. If these don't prove the page, it asks for many or all in one
    /// snapshot.
    ///
    /// - Throws: why the database couldn't be read; `timeout` once the request's time is up; `indexRequired` where places are
    ///   filtered by properties, which no index of the database has.
    public func places(
        for request: NearbyPlacesRequest, from client: @autoclosure () -> IPAddress
    ) throws(PlaceStoreError) -> Stored<RankedPage> {
        if !request.ids.isEmpty { return places(byIDs: request) }
        // No index of the database finds names by relevance, or places by properties, in bounded time.
        guard request.sort == nil, !request.filter.hasPropertyFilters else { throw .indexRequired }
        guard let ranking = Ranking(pageOf: request) else { return .now(RankedPage(places: [])) }
        let search = DirectSearch(request, ranking)
        return .later { [self] () throws(PlaceStoreError) in try await page(search) }
    }

    // Each call that may suspend costs some 400 instructions.
    @inline(__always)
    private func page(_ search: DirectSearch) async throws(PlaceStoreError) -> RankedPage {
        let (start, deadline) = (ContinuousClock.now, deadline)
        do throws(PostgresError) {
            var page: RankedPage
            if let found = try await quickPage(search, deadline) {
                page = found
                quickCount += 1
            } else {
                page = try await pool.withSnapshot(
                    lane: .exclusive, locking: "locations", deadline: deadline
                ) { snapshot throws(PostgresError) in try await search.page(in: snapshot) }
                searchCount += 1
            }
            page.databaseDuration = ContinuousClock.now - start
            return page
        } catch {
            throw PlaceStoreError(error, isOverdue: pool.loop.now >= deadline)
        }
    }

    /// Returns a value that `body` reads from the database once it is awaited, until the request's time is up.
    private func read<Value>(
        _ body: @escaping (_ deadline: Duration) async throws(PostgresError) -> Value
    ) -> Stored<Value> {
        .later { [self] () throws(PlaceStoreError) in
            let deadline = deadline
            do throws(PostgresError) {
                return try await body(deadline)
            } catch {
                throw PlaceStoreError(error, isOverdue: pool.loop.now >= deadline)
            }
        }
    }

    /// The page, made from a few candidates; nil if they don't prove it.
    private func quickPage(
        _ search: DirectSearch, _ deadline: Duration
    ) async throws(PostgresError) -> RankedPage? {
        guard let query = search.firstQuery else { return nil }
        let rows: PostgresRows
        if let prepared = query.prepared {
            rows = try await read(prepared, query.parameters, deadline)
        } else {
            rows = try await pool.query(
                PostgresQuery(query.sql, query.parameters), lane: .fast, deadline: deadline,
                isIdempotent: true)
        }
        return try search.page(in: rows, of: query)
    }

    /// Reads the places with the request's ids.
    ///
    /// - Throws: why the database couldn't be read; `timeout` once the request's time is up.
    private func places(byIDs request: NearbyPlacesRequest) -> Stored<RankedPage> {
        read { [self] deadline throws(PostgresError) in
            let start = ContinuousClock.now
            let rows = try PlaceRows(
                try await read(
                    PlaceStatements.byID(withNames: !request.languages.isEmpty),
                    [.int8Array(request.ids.map(Int64.init))], deadline))
            var items: [RankedRows.Item] = []
            for row in rows.places {
                let place = try rows.candidate(at: row)
                let distance = request.center.map { Geodesic.distanceMeters(from: $0, to: place) }
                items.append(RankedRows.Item(row: row, place: place, distanceMeters: distance))
            }
            items.sort { ($0.distanceMeters ?? 0, $0.place.id) < ($1.distanceMeters ?? 0, $1.place.id) }
            return RankedPage(
                places: RankedRows(rows: rows, items: items), version: rows.version,
                databaseDuration: ContinuousClock.now - start)
        }
    }

    /// Has no clusters: neither an index nor a summary of the database counts the places of any box in bounded time.
    ///
    /// - Throws: `indexRequired`.
    public func clusters(
        for request: ClustersRequest, from client: @autoclosure () -> IPAddress
    ) throws(PlaceStoreError) -> Stored<ClusterPage> {
        throw .indexRequired
    }

    /// Runs a single statement that reads.
    func read(
        _ statement: PreparedStatement, _ parameters: [PostgresValue], _ deadline: Duration
    ) async throws(PostgresError) -> PostgresRows {
        try await pool.query(statement, parameters, lane: .fast, deadline: deadline, isIdempotent: true)
    }

    /// The dataset of the last renewal that the process has noticed.
    public var currentDatasetID: DatasetID? { dataset.datasetID }

    /// The names that the process read last.
    public var vocabulary: FilterVocabulary? { dataset.vocabulary }

    /// Reads the names that requests may filter by.
    ///
    /// - Throws: why the database couldn't be read; `timeout` once the request's time is up.
    public func currentVocabulary() throws(PlaceStoreError) -> Stored<FilterVocabulary> {
        read { [self] deadline throws(PostgresError) in
            let rows = try await pool.query(
                PlaceStatements.vocabulary, lane: .fast, deadline: deadline, isIdempotent: true)
            return try FilterVocabulary(try rows.only())
        }
    }

    /// Whether the database responds and has every migration that this binary relies on.
    public func checkHealth() async -> StoreHealth { await schemaCheck.run(on: pool) }

    /// Waits for the connections, and runs one query on each of them.
    ///
    /// For its first query a backend of PostgreSQL reads catalogues, loads PostGIS and makes plans. A server gets its share
    /// of the load as soon as it says that it is ready, and has no time for all this then.
    public func warmUp() async {
        await pool.waitUntilTried()
        let store = LoopBound(self, loop: pool.loop)
        let statistics = pool.statistics
        await withTaskGroup { group in
            // As many queries at once as there are connections, so that each connection gets exactly one.
            for _ in 0..<statistics.fast.connections {
                group.addTask(executorPreference: store.loop) { await store.value.warmUp(byWords: nil) }
            }
            for _ in 0..<statistics.exclusive.connections {
                group.addTask(executorPreference: store.loop) { await store.value.warmUp(byWords: "a") }
            }
        }
    }

    /// Runs one search whose result doesn't matter. A failure is ignored here, because health checks report it.
    private func warmUp(byWords text: String?) async {
        guard let center = try? Coordinate(latitude: 0, longitude: 0) else { return }
        // No place is so near.
        var request = NearbyPlacesRequest(center: center, radiusMeters: 1)
        request.searchText = text
        _ = try? await places(for: request)
    }

    /// The state of the connections, and of the servers for reads.
    public func collectMetrics(into snapshot: inout MetricsSnapshot) {
        for server in route?.report ?? [] {
            if let lag = server.lag {
                snapshot.add(lag / .seconds(1), to: DatabaseMetrics.replicaLag, server.name)
            }
            snapshot.add(server.isUsable ? 1 : 0, to: DatabaseMetrics.readServerUsable, server.name)
        }
        let statistics = pool.statistics
        snapshot.add(statistics.fast, of: .fast, to: .places)
        snapshot.add(statistics.exclusive, of: .exclusive, to: .places)
    }

    /// Cancels a count that is under way, and closes the connections.
    public func close() async {
        isClosing = true
        await counting.end()
        await watch?.close()
        await reads.close()
    }
}

// MARK: - Counts

extension PostgresPlaceStore {
    /// Returns counts of the places of each category: the last counts, from memory, or the next ones. A `CountSchedule`
    /// decides.
    ///
    /// - Throws: why counting has failed; `cancelled`, at once, where the task is cancelled.
    public func categories() throws(PlaceStoreError) -> Stored<DatasetCounts<CategoryCount>> {
        counts(dataset.categoryCounts, of: PlaceStatements.categories) { row throws(PostgresError) in
            (CategoryCount(name: try row.decode(at: 0), count: try row.decode(at: 1)), try row.decode(at: 2))
        }
    }

    /// Returns the source datasets with counts of their places, as `categories` does.
    ///
    /// - Throws: why counting has failed; `cancelled`, at once, where the task is cancelled.
    public func attributions() throws(PlaceStoreError) -> Stored<DatasetCounts<Attribution>> {
        counts(dataset.attributionCounts, of: PlaceStatements.attributions) { row throws(PostgresError) in
            let version: DatasetVersion? = try row.decode(at: 5)
            guard let name: String = try row.decode(String?.self, at: 0) else { return (nil, version) }
            let attribution = Attribution(
                dataset: name, license: try row.decode(at: 1), credit: try row.decode(at: 2),
                url: try row.decode(at: 3), places: try row.decode(at: 4))
            return (attribution, version)
        }
    }

    /// Forgets the counts in memory, so that the next requests count anew.
    public func forgetCounts() {
        dataset.categoryCounts.forget()
        dataset.attributionCounts.forget()
    }

    /// Reads a row of counts: its item, if it has one, and the dataset's version.
    private typealias CountReader<Item> =
        @Sendable (PostgresRow) throws(PostgresError) -> (item: Item?, version: DatasetVersion?)

    private func counts<Item>(
        _ shared: SharedCounts<Item>, of statement: PreparedStatement, _ read: @escaping CountReader<Item>
    ) -> Stored<DatasetCounts<Item>> {
        .later { [self] () throws(PlaceStoreError) in
            let start = ContinuousClock.now
            while !isClosing {
                do throws(PlaceStoreError) {
                    let (counts, areAwaited) = try await shared.counts(of: currentDatasetID) {
                        beginCounting(for: shared, statement, read)
                    }
                    guard areAwaited else { return counts }
                    return DatasetCounts(
                        counts.items, version: counts.version, databaseDuration: ContinuousClock.now - start)
                } catch {
                    // If this request wasn't cancelled, the store that counted was closed, and another one has to count.
                    guard error == .cancelled, !Task.isCancelled else { throw error }
                }
            }
            throw .unavailable(reason: "the store is closed")
        }
    }

    /// Counts in a task of its own: requests of other loops may wait for it, and the one that began it may be cancelled.
    private func beginCounting<Item>(
        for shared: SharedCounts<Item>, _ statement: PreparedStatement, _ read: @escaping CountReader<Item>
    ) {
        let store = LoopBound(self, loop: pool.loop)
        counting.start {
            shared.finish(await store.value.count(statement, read))
        }
    }

    private func count<Item>(
        _ statement: PreparedStatement, _ read: CountReader<Item>
    ) async -> SharedCounts<Item>.Outcome {
        do throws(PostgresError) {
            let rows = try await pool.query(
                statement, lane: .exclusive, deadline: deadline, isIdempotent: true)
            var (items, version): ([Item], DatasetVersion?) = ([], nil)
            for row in rows {
                let counted = try read(row)
                version = counted.version
                if let item = counted.item { items.append(item) }
            }
            return .success(DatasetCounts(items, version: version))
        } catch {
            return .failure(PlaceStoreError(error))
        }
    }
}

// MARK: - Watches

/// The watches that one store of a process keeps for all its stores: of the dataset, and of the servers for reads if there
/// are any.
///
/// Confined to the loop. If reads have servers of their own, both watches use connections to `DATABASE_URL`: a replica learns
/// about a change late, and LISTEN doesn't work there.
private final class DatabaseWatch {
    private let dataset: DatasetWatcher
    private let replicas: ReplicaMonitor?
    private let primary: ConnectionPool?

    init(
        _ configuration: DatabaseConfiguration, reads: ConnectionPool, route: ReadRoute?,
        dataset: DatasetState, connectionLog: ConnectionLog,
        record: @escaping @Sendable (Observation) -> Void
    ) {
        var primary: ConnectionPool?
        var replicas: ReplicaMonitor?
        if let route, route.claimWatch() {
            var options = configuration.pool
            (options.fastConnections, options.exclusiveConnections) = (1, 1)
            let pool = ConnectionPool(
                configuration.postgres, options: options, loop: reads.loop, observe: connectionLog.observe)
            primary = pool
            replicas = ReplicaMonitor(route: route, primary: pool, record: record)
        }
        self.primary = primary
        self.replicas = replicas
        self.dataset = DatasetWatcher(configuration: configuration, pool: primary ?? reads, state: dataset)
    }

    /// Ends both watches, and waits for what is under way.
    func close() async {
        await dataset.close()
        await replicas?.close()
        await primary?.close()
    }
}

/// Checks that every migration that this program relies on is applied.
///
/// Newer migrations than this program knows are accepted: what a release drops, the release before didn't use any more.
struct SchemaCheck: Sendable {
    /// The migrations that this program knows.
    let migrations: MigrationDirectory

    private static let applied = PreparedStatement("SELECT version::text FROM schema_migrations")

    func run(on pool: ConnectionPool) async -> StoreHealth {
        await run { (statement) throws(PostgresError) in
            try await pool.query(statement, lane: .exclusive, isIdempotent: true)
        }
    }

    /// The same by any way to ask.
    func run(_ ask: (PreparedStatement) async throws(PostgresError) -> PostgresRows) async -> StoreHealth {
        do throws(PostgresError) {
            var versions: Set<String> = []
            for row in try await ask(Self.applied) { versions.insert(try row.decode(at: 0)) }
            return .reachable(missingMigrations: migrations.missingSchemaVersions(applied: versions))
        } catch  where error.sqlState == .undefinedTable {
            return .reachable(missingMigrations: migrations.missingSchemaVersions(applied: []))
        } catch {
            return .unreachable(reason: error.logText)
        }
    }
}

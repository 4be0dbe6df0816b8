import EventLoop
import PointsOfInterestAPI
import SpatialIndex
import Telemetry

/// Serves the places in memory while they may be served, and otherwise those of another store, such as a database's.
///
/// Belongs to one loop.
public final class IndexedPlaceStore: PlaceStore {
    /// The store that is asked while there are no places in memory; nil if they are always there.
    private let fallback: (any PlaceStore)?
    private let index: ServedIndex
    private let isRequired: Bool
    /// How long a request may wait for a search.
    private let requestTimeout: Duration
    private let loop: EventLoop
    private var reader: PublishedIndex.Reader?
    /// The counts of the dataset in memory whose counts were last asked for.
    private var (categoryCounts, attributionCounts):
        (DatasetCounts<CategoryCount>?, DatasetCounts<Attribution>?)
    /// The last page that was found at once; the next one reuses its memory.
    private var page = IndexPage()
    private var facts: ServedIndex.Facts? { didSet { filterVocabulary = nil } }
    /// The vocabulary of `facts`, once a request has asked for it.
    private var filterVocabulary: FilterVocabulary?

    /// Serves from `index`, and while that has no places, from `fallback`, which belongs to the same loop.
    ///
    /// - Parameters:
    ///   - isRequired: whether the store has to wait until the places are in memory before it is ready.
    ///   - requestTimeout: how long a request may wait for a search.
    public init(
        _ index: ServedIndex, fallback: (any PlaceStore)?, isRequired: Bool, requestTimeout: Duration,
        loop: EventLoop
    ) {
        self.index = index
        self.fallback = fallback
        self.isRequired = isRequired
        self.requestTimeout = requestTimeout
        self.loop = loop
        reader = index.published.addReader { [loop] job in loop.execute(job) }
    }

    /// The time that decides what may still be served. A loop's own time is that of the turn's beginning: where the process
    /// is stopped in the middle of a turn, requests that it receives afterwards would be older than that.
    private var now: Duration {
        loop.preconditionInEventLoop()
        return MonotonicClock.now
    }

    // MARK: The dataset

    /// The dataset that is served.
    public var currentDatasetID: DatasetID? {
        index.withSnapshot(at: now) { $0.datasetID }
            ?? fallback?.currentDatasetID.map(index.servedID)
    }

    /// The names of the dataset that is served.
    public var vocabulary: FilterVocabulary? { servedVocabulary ?? fallback?.vocabulary }

    private var servedVocabulary: FilterVocabulary? {
        let servedID = index.withSnapshot(at: now) { $0.datasetID }
        if let filterVocabulary, let servedID, servedID == facts?.datasetID { return filterVocabulary }
        return withFacts { snapshot, facts in
            let vocabulary = snapshot.filterVocabulary(facts)
            filterVocabulary = vocabulary
            return vocabulary
        }
    }

    /// Runs `body` with the snapshot and the facts of the same dataset, which are looked up once for each dataset.
    ///
    /// - Returns: nil if there is no snapshot, and for a moment while the next one is published.
    private func withFacts<Result>(_ body: (IndexSnapshot, ServedIndex.Facts) -> Result) -> Result? {
        var result: Result?
        index.withSnapshot(at: now) { snapshot in
            if facts?.datasetID != snapshot.datasetID { facts = index.facts }
            guard let facts, facts.datasetID == snapshot.datasetID else { return }
            result = body(snapshot, facts)
        }
        return result
    }

    /// How many seconds ago the places in memory were last known to be the newest; nil if they still count as the
    /// newest, and if they aren't served.
    public var staleSeconds: Int? { index.staleSeconds(at: now) }

    /// The names of the dataset that is served from memory, or those of the database if none is.
    ///
    /// - Throws: why the database couldn't be read.
    public func currentVocabulary() throws(PlaceStoreError) -> Stored<FilterVocabulary> {
        if let servedVocabulary { return .now(servedVocabulary) }
        return try requireFallback().currentVocabulary()
    }

    // MARK: Places

    /// The page. It comes at once if finding it takes no longer than a loop may spend on it, and otherwise from a
    /// helper thread. If the places aren't in memory, it comes from the database.
    ///
    /// - Throws: `overloaded` if too many searches wait; `timeout` once the request's time is up; why the database
    ///   couldn't be read; `unavailable` if the database is behind what was served before; `indexRequired` for a request by
    ///   relevance where the places aren't in memory.
    public func places(
        for request: NearbyPlacesRequest, from client: @autoclosure () -> IPAddress
    ) throws(PlaceStoreError) -> Stored<RankedPage> {
        if !request.ids.isEmpty { return try places(byIDs: request) }
        if request.sort == .relevance { return relevantPlaces(for: request, from: client()) }
        guard let ranking = Ranking(pageOf: request) else { return .now(RankedPage(places: [])) }
        let found: Stored<RankedPage>?? = index.withSnapshot(at: now) { snapshot in
            let query = IndexQuery(
                ranking: ranking, box: request.box, filter: IndexFilter(request.filter, snapshot.vocabulary))
            guard snapshot.searchAtOnce(query, into: &page) else { return nil }
            return .now(RankedPage(page, of: request, in: snapshot))
        }
        return (consume found ?? nil) ?? laterPlaces(for: request, from: client())
    }

    private func laterPlaces(for request: NearbyPlacesRequest, from client: IPAddress) -> Stored<RankedPage> {
        .later { [self] () throws(PlaceStoreError) in try await searchedPlaces(for: request, from: client) }
    }

    /// The page, found on a helper thread or by the database.
    ///
    /// - Throws: as `places`.
    package func searchedPlaces(
        for request: NearbyPlacesRequest, from client: IPAddress
    ) async throws(PlaceStoreError) -> RankedPage {
        let deadline = loop.now + requestTimeout
        if let page = try await searched(request, client, deadline) { return page }
        let fallback = try requireFallback()
        if let page = admitted(try await fallback.places(for: request, from: client).value()) { return page }
        if let page = try await searched(request, client, deadline) { return page }
        throw Self.isBehind
    }

    /// The page by relevance, at once or from a helper thread.
    private func relevantPlaces(
        for request: NearbyPlacesRequest, from client: IPAddress
    ) -> Stored<RankedPage> {
        var found: RankedPage?
        index.withSnapshot(at: now) { snapshot in
            let page = snapshot.searchAtOnce(RelevanceQuery(request, snapshot.vocabulary))
            found = page.map { RankedPage($0, of: request, in: snapshot) }
        }
        if let found { return .now(found) }
        return .later { [self] () throws(PlaceStoreError) in
            try await searchedByRelevance(request, from: client)
        }
    }

    /// The page by relevance, found on a helper thread.
    ///
    /// - Throws: as `places`.
    package func searchedByRelevance(
        _ request: NearbyPlacesRequest, from client: IPAddress
    ) async throws(PlaceStoreError) -> RankedPage {
        guard let snapshot = index.pinned(at: now) else { throw .indexRequired }
        let query = RelevanceQuery(request, snapshot.vocabulary)
        let page = try await index.searches.run(for: client, until: loop.now + requestTimeout) { stop in
            snapshot.search(query, until: stop)
        }
        return RankedPage(page, of: request, in: snapshot)
    }

    /// The places with the request's ids, from memory or from the database.
    ///
    /// - Throws: why the database couldn't be read; `unavailable` where it is behind what was served before.
    private func places(byIDs request: NearbyPlacesRequest) throws(PlaceStoreError) -> Stored<RankedPage> {
        if let page = placesInMemory(request) { return .now(page) }
        return .later { [self] () throws(PlaceStoreError) in
            if let page = admitted(try await requireFallback().places(for: request)) { return page }
            if let page = placesInMemory(request) { return page }
            throw Self.isBehind
        }
    }

    private func placesInMemory(_ request: NearbyPlacesRequest) -> RankedPage? {
        index.withSnapshot(at: now) { RankedPage(byIDs: request, in: $0) }
    }

    /// The page by a search on a helper thread; nil where the places aren't in memory.
    private func searched(
        _ request: NearbyPlacesRequest, _ client: IPAddress, _ deadline: Duration
    ) async throws(PlaceStoreError) -> RankedPage? {
        guard let ranking = Ranking(pageOf: request), let snapshot = index.pinned(at: now) else {
            return nil
        }
        let query = IndexQuery(
            ranking: ranking, box: request.box, filter: IndexFilter(request.filter, snapshot.vocabulary))
        let page = try await index.searches.run(for: client, until: deadline) { stop in
            snapshot.search(query, until: stop)
        }
        return RankedPage(page, of: request, in: snapshot)
    }

    /// The clusters. They come at once if counting them takes no longer than a loop may spend on it, and otherwise from
    /// a helper thread.
    ///
    /// - Throws: `indexRequired` where the places aren't in memory; `overloaded` where too many searches wait; `timeout`
    ///   once the request's time is up.
    public func clusters(
        for request: ClustersRequest, from client: @autoclosure () -> IPAddress
    ) throws(PlaceStoreError) -> Stored<ClusterPage> {
        let cells = ClusterCells(request)
        var counted: ClusterPage?
        index.withSnapshot(at: now) { snapshot in
            let clusters = snapshot.clustersAtOnce(
                in: cells, IndexFilter(request.filter, snapshot.vocabulary))
            counted = clusters.map { ClusterPage($0, in: snapshot) }
        }
        if let counted { return .now(counted) }
        let client = client()
        return .later { [self] () throws(PlaceStoreError) in
            try await countedClusters(for: request, from: client)
        }
    }

    /// The clusters, counted on a helper thread.
    ///
    /// - Throws: as `clusters`.
    package func countedClusters(
        for request: ClustersRequest, from client: IPAddress
    ) async throws(PlaceStoreError) -> ClusterPage {
        guard let snapshot = index.pinned(at: now) else { throw .indexRequired }
        let (cells, filter) = (ClusterCells(request), IndexFilter(request.filter, snapshot.vocabulary))
        let deadline = loop.now + requestTimeout
        let clusters = try await index.searches.run(for: client, until: deadline) { stop in
            snapshot.clusters(in: cells, filter, until: stop)
        }
        return ClusterPage(clusters, in: snapshot)
    }

    private static let isBehind = PlaceStoreError.unavailable(
        reason: "the database is behind what was served before")

    private func requireFallback() throws(PlaceStoreError) -> any PlaceStore {
        guard let fallback else { throw .unavailable(reason: "there are no places in memory") }
        return fallback
    }

    /// A page of the fallback, with the dataset id that it is served by; nil if it must not be served.
    private func admitted(_ page: RankedPage) -> RankedPage? {
        guard let version = page.version else { return page }
        guard index.admits(version) else { return nil }
        var page = page
        page.datasetID = index.servedID(of: version.datasetID)
        return page
    }

    // MARK: Counts

    /// The number of places of each category, in memory or as the database has counted them.
    ///
    /// - Throws: why the database couldn't be read; `unavailable` where it is behind what was served before.
    public func categories() throws(PlaceStoreError) -> Stored<DatasetCounts<CategoryCount>> {
        try counts({ $0.categoriesInMemory() }) { store throws(PlaceStoreError) in try store.categories() }
    }

    /// The source datasets with the number of their places, in memory or as the database has counted them.
    ///
    /// - Throws: why the database couldn't be read; `unavailable` where it is behind what was served before.
    public func attributions() throws(PlaceStoreError) -> Stored<DatasetCounts<Attribution>> {
        try counts({ $0.attributionsInMemory() }) { store throws(PlaceStoreError) in try store.attributions()
        }
    }

    /// The counts in memory, else those of the fallback, which are no older than what was served before.
    private func counts<Item>(
        _ inMemory: @escaping (IndexedPlaceStore) -> DatasetCounts<Item>?,
        _ read: @escaping (any PlaceStore) throws(PlaceStoreError) -> Stored<DatasetCounts<Item>>
    ) throws(PlaceStoreError) -> Stored<DatasetCounts<Item>> {
        if let counts = inMemory(self) { return .now(counts) }
        return .later { [self] () throws(PlaceStoreError) in
            let fallback = try requireFallback()
            for _ in 0..<2 {
                var counts = try await read(fallback).value()
                guard let version = counts.version, !index.admits(version) else {
                    counts.datasetID = counts.datasetID.map(index.servedID)
                    return counts
                }
                if let counts = inMemory(self) { return counts }
                // The fallback had kept these counts from before the places in memory were served.
                fallback.forgetCounts()
            }
            throw Self.isBehind
        }
    }

    private func categoriesInMemory() -> DatasetCounts<CategoryCount>? {
        withFacts { snapshot, facts in
            if let categoryCounts, categoryCounts.datasetID == snapshot.datasetID { return categoryCounts }
            let categories = facts.categories.sortedNames.map { name in
                let number = snapshot.vocabulary.number(of: name)
                return CategoryCount(name: name, count: number.map { snapshot.categoryCounts[Int($0)] } ?? 0)
            }
            let counts = DatasetCounts(
                categories, version: facts.version, datasetID: facts.datasetID)
            categoryCounts = counts
            return counts
        }
    }

    private func attributionsInMemory() -> DatasetCounts<Attribution>? {
        withFacts { snapshot, facts in
            if let attributionCounts, attributionCounts.datasetID == snapshot.datasetID {
                return attributionCounts
            }
            let counts = DatasetCounts(
                snapshot.attributions(facts.datasets), version: facts.version, datasetID: facts.datasetID)
            attributionCounts = counts
            return counts
        }
    }

    // MARK: State

    /// Warms up the fallback.
    public func warmUp() async { await fallback?.warmUp() }

    /// The state of the fallback, or `loading` if that is good but the process still has to wait for its places in
    /// memory. Once the process has started, the places in memory don't affect the state any more.
    public func checkHealth() async -> StoreHealth {
        let health = await fallback?.checkHealth() ?? .reachable(missingMigrations: [])
        guard health == .reachable(missingMigrations: []),
            !index.hasStarted(isRequired: isRequired, at: loop.now)
        else { return health }
        return .loading
    }

    /// Adds the metrics of the fallback, and those of the places in memory.
    public func collectMetrics(into snapshot: inout MetricsSnapshot) {
        fallback?.collectMetrics(into: &snapshot)
        let status = index.status
        let isServing = index.isServing(at: now)
        snapshot.add(status.placeCount, to: DatabaseMetrics.indexPlaces)
        snapshot.add(status.bytes, to: DatabaseMetrics.indexBytes)
        snapshot.add(status.maximumBytes, to: DatabaseMetrics.indexBytesLimit)
        snapshot.add(Double(status.revision), to: DatabaseMetrics.indexRevision)
        for phase in ServedIndex.Status.Phase.allCases {
            let isCurrent = phase == status.phase && (phase != .serving || isServing)
            snapshot.add(isCurrent ? 1 : 0, to: DatabaseMetrics.indexState, phase.rawValue)
        }
        if let time = status.confirmedAt {
            snapshot.add(max(0, (loop.now - time) / .seconds(1)), to: DatabaseMetrics.indexConfirmed)
        }
        if let time = status.verifiedAt {
            snapshot.add(max(0, (loop.now - time) / .seconds(1)), to: DatabaseMetrics.indexVerified)
        }
        snapshot.add(status.differenceCount, to: DatabaseMetrics.indexDifferences)
        snapshot.add(status.inactiveTriggerCount, to: DatabaseMetrics.indexInactiveTriggers)
        snapshot.add(status.loadCount, to: DatabaseMetrics.indexLoads)
        snapshot.add(status.changeCount, to: DatabaseMetrics.indexChanges)
    }

    /// Stops reading the places in memory, and closes the fallback.
    public func close() async {
        removeReader()
        await fallback?.close()
    }

    // A session of the mock ends without closing its store.
    deinit { removeReader() }

    private func removeReader() {
        if let reader { index.published.removeReader(reader) }
        reader = nil
    }
}

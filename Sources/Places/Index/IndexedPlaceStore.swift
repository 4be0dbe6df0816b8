import Geodesy
import PointsOfInterestServerAPI
import EventLoop
import PointsOfInterestAPI
import SpatialIndex
import Telemetry

/// Serves the places in memory while they may be served.
///
/// Belongs to one loop.
package final class IndexedPlaceStore: PlaceStore {
    private let index: ServedIndex
    /// How long a request may wait for a search.
    private let requestTimeout: Duration
    private let loop: EventLoop
    private var reader: PublishedIndex.Reader?
    private var (categoryCounts, attributionCounts):
        (DatasetCounts<CategoryCount>?, DatasetCounts<Attribution>?)
    /// The last page that was found at once; the next one reuses its memory.
    private var page = IndexPage()
    private var facts: ServedIndex.Facts? { didSet { filterVocabulary = nil } }
    /// The vocabulary of `facts`, once a request has asked for it.
    private var filterVocabulary: FilterVocabulary?

    /// Serves from `index`.
    package init(_ index: ServedIndex, requestTimeout: Duration, loop: EventLoop) {
        self.index = index
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

    package var currentDatasetID: DatasetID? { index.withSnapshot(at: now) { $0.datasetID } }

    /// The names of the dataset that is served.
    package var vocabulary: FilterVocabulary? {
        if let filterVocabulary, let currentDatasetID, currentDatasetID == facts?.datasetID {
            return filterVocabulary
        }
        return withFacts { snapshot, facts in
            let vocabulary = snapshot.filterVocabulary(facts)
            filterVocabulary = vocabulary
            return vocabulary
        }
    }

    /// Runs `body` with the snapshot and the facts of the same dataset, which are looked up once for each dataset.
    private func withFacts<Result>(_ body: (IndexSnapshot, ServedIndex.Facts) -> Result) -> Result? {
        var result: Result?
        // If two other snapshots are published meanwhile, the first one's facts are gone.
        while result == nil, index.isServing(at: now) {
            index.withSnapshot(at: now) { snapshot in
                if facts?.datasetID != snapshot.datasetID { facts = index.facts(of: snapshot.datasetID) }
                if let facts { result = body(snapshot, facts) }
            }
        }
        return result
    }

    /// How many seconds ago the places in memory were last known to be the newest; nil if they still count as the
    /// newest, and if they aren't served.
    package var staleSeconds: Int? { index.staleSeconds(at: now) }

    /// The names of the dataset that is served.
    package func currentVocabulary() throws(PlaceStoreError) -> Stored<FilterVocabulary> {
        guard let vocabulary else { throw .notReady }
        return .now(vocabulary)
    }

    // MARK: Places

    /// The page. It comes at once if finding it takes no longer than a loop may spend on it, and otherwise from a
    /// helper thread.
    ///
    /// - Throws: `overloaded` if too many searches wait; `timeout` once the request's time is up; `notReady` where there
    ///   are no places.
    package func places(
        for request: NearbyPlacesRequest, from client: @autoclosure () -> IPAddress
    ) throws(PlaceStoreError) -> Stored<RankedPage> {
        if !request.ids.isEmpty {
            return .now(
                try pageByIDs(request) { snapshot, former in RankedPage(byIDs: request, in: snapshot, former)
                })
        }
        if request.sort == .relevance { return relevantPlaces(for: request, from: client()) }
        guard let ranking = Ranking(pageOf: request) else { return .now(RankedPage(places: NoPlaces())) }
        let found: Stored<RankedPage>?? = index.withSnapshot(at: now) { snapshot in
            let query = IndexQuery(
                ranking: ranking, box: request.box, filter: IndexFilter(request.filter, snapshot.vocabulary))
            guard snapshot.searchAtOnce(query, into: &page) else { return nil }
            return .now(RankedPage(page, of: request, in: snapshot))
        }
        return (consume found ?? nil) ?? laterPlaces(for: request, from: client())
    }

    /// The place with an id, at once.
    ///
    /// - Throws: `notReady` where there are no places.
    package func place(for request: PlaceRequest) throws(PlaceStoreError) -> Stored<RankedPage> {
        .now(
            try pageByIDs(NearbyPlacesRequest(request)) { snapshot, former in
                let former = former.place(Int64(request.id), in: snapshot)
                return RankedPage(places: NoPlaces(former: former), datasetID: snapshot.datasetID)
            })
    }

    /// The places with some ids where all are there, which is all that most requests cost; otherwise what `otherwise` makes of
    /// the former ids.
    private func pageByIDs(
        _ request: NearbyPlacesRequest, otherwise: (IndexSnapshot, FormerIDs) -> RankedPage?
    ) throws(PlaceStoreError) -> RankedPage {
        if let page = index.withSnapshot(at: now, { RankedPage(byIDs: request, in: $0) }) ?? nil {
            return page
        }
        // All may be there in a snapshot that was published meanwhile.
        let page = withFacts { snapshot, facts in
            RankedPage(byIDs: request, in: snapshot) ?? otherwise(snapshot, facts.former ?? FormerIDs())
        }
        guard let page = page ?? nil else { throw .notReady }
        return page
    }

    private func laterPlaces(for request: NearbyPlacesRequest, from client: IPAddress) -> Stored<RankedPage> {
        .later { [self] () throws(PlaceStoreError) in try await searchedPlaces(for: request, from: client) }
    }

    /// The page, found on a helper thread.
    package func searchedPlaces(
        for request: NearbyPlacesRequest, from client: IPAddress
    ) async throws(PlaceStoreError) -> RankedPage {
        guard let ranking = Ranking(pageOf: request) else { return RankedPage(places: NoPlaces()) }
        let snapshot = try pinned()
        let query = IndexQuery(
            ranking: ranking, box: request.box, filter: IndexFilter(request.filter, snapshot.vocabulary))
        let page = try await index.searches.run(for: client, until: loop.now + requestTimeout) { stop in
            snapshot.search(query, until: stop)
        }
        return RankedPage(page, of: request, in: snapshot)
    }

    /// The snapshot, for use beyond the current turn.
    private func pinned() throws(PlaceStoreError) -> IndexSnapshot {
        guard let snapshot = index.pinned(at: now) else { throw .notReady }
        return snapshot
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
    package func searchedByRelevance(
        _ request: NearbyPlacesRequest, from client: IPAddress
    ) async throws(PlaceStoreError) -> RankedPage {
        let snapshot = try pinned()
        let query = RelevanceQuery(request, snapshot.vocabulary)
        let page = try await index.searches.run(for: client, until: loop.now + requestTimeout) { stop in
            snapshot.search(query, until: stop)
        }
        return RankedPage(page, of: request, in: snapshot)
    }

    /// The clusters. They come at once if counting them takes no longer than a loop may spend on it, and otherwise from
    /// a helper thread.
    package func clusters(
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
    package func countedClusters(
        for request: ClustersRequest, from client: IPAddress
    ) async throws(PlaceStoreError) -> ClusterPage {
        let snapshot = try pinned()
        let (cells, filter) = (ClusterCells(request), IndexFilter(request.filter, snapshot.vocabulary))
        let deadline = loop.now + requestTimeout
        let clusters = try await index.searches.run(for: client, until: deadline) { stop in
            snapshot.clusters(in: cells, filter, until: stop)
        }
        return ClusterPage(clusters, in: snapshot)
    }

    // MARK: Sums

    /// Few sums at once where they are known; otherwise all from a helper thread, which also writes the body and compresses
    /// it: a first download's are of a megabyte each, for which others would wait.
    package func digest(
        for request: DigestRequest, maximumCount: Int, compressedBy compress: DigestPage.Compression?,
        from client: @autoclosure () -> IPAddress
    ) throws(PlaceStoreError) -> Stored<DigestPage> {
        let filter = request.encodedFilter
        if request.isShort, let datasetID = currentDatasetID,
            let known = index.digests.digest(of: filter, in: datasetID)
        {
            return .now(DigestPage(known, for: request, maximumCount: maximumCount, datasetID))
        }
        let client = client()
        return .later { [self] () throws(PlaceStoreError) in
            let (snapshot, cache) = (try pinned(), index.digests)
            return try await index.searches.run(for: client, until: loop.now + requestTimeout) { stop in
                snapshot.digestPage(
                    for: request, filter, maximumCount: maximumCount, compressedBy: compress, cache,
                    until: stop)
            }
        }
    }

    // MARK: Counts

    /// The number of places of each category.
    package func categories() throws(PlaceStoreError) -> Stored<DatasetCounts<CategoryCount>> {
        guard let counts = categoriesInMemory() else { throw .notReady }
        return .now(counts)
    }

    /// The source datasets with the number of their places.
    package func attributions() throws(PlaceStoreError) -> Stored<DatasetCounts<Attribution>> {
        guard let counts = attributionsInMemory() else { throw .notReady }
        return .now(counts)
    }

    private func categoriesInMemory() -> DatasetCounts<CategoryCount>? {
        withFacts { snapshot, facts in
            if let categoryCounts, categoryCounts.datasetID == snapshot.datasetID { return categoryCounts }
            let categories = facts.categories.sortedNames.map { name in
                let number = snapshot.vocabulary.number(of: name)
                return CategoryCount(name: name, count: number.map { snapshot.categoryCounts[Int($0)] } ?? 0)
            }
            let counts = DatasetCounts(categories, labels: facts.labels, datasetID: facts.datasetID)
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
                snapshot.attributions(facts.datasets), datasetID: facts.datasetID)
            attributionCounts = counts
            return counts
        }
    }

    // MARK: State

    /// The state of the database, and whether there are places to serve; nil before either is known.
    package func checkHealth() async -> StoreHealth? {
        let (health, isServing) = (index.health, index.isServing(at: now))
        switch health {
        case nil: return isServing ? .kept(reason: nil) : nil
        case .unreachable(let reason):
            return isServing ? .kept(reason: reason) : index.hasLoaded ? .stale(reason: reason) : health
        case .reachable(missingMigrations: []) where !isServing:
            return index.status.phase == .tooLarge ? .tooLarge : .loading
        default: return health
        }
    }

    /// Adds the metrics of the places in memory.
    package func collectMetrics(into snapshot: inout MetricsSnapshot) {
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
        for origin in ServedIndex.Status.Origin.allCases {
            snapshot.add(origin == status.origin ? 1 : 0, to: DatabaseMetrics.indexOrigin, origin.rawValue)
        }
        if let bytes = status.fileBytes { snapshot.add(bytes, to: DatabaseMetrics.indexFileBytes) }
        if let time = status.fileConfirmedAt {
            snapshot.add(max(0, (loop.now - time) / .seconds(1)), to: DatabaseMetrics.indexFileAge)
        }
        if let time = status.verifiedAt {
            snapshot.add(max(0, (loop.now - time) / .seconds(1)), to: DatabaseMetrics.indexVerified)
        }
        snapshot.add(status.differenceCount, to: DatabaseMetrics.indexDifferences)
        snapshot.add(status.inactiveTriggerCount, to: DatabaseMetrics.indexInactiveTriggers)
        if let isStandby = status.followsStandby {
            snapshot.add(isStandby ? 1 : 0, to: DatabaseMetrics.indexStandby)
        }
        snapshot.add(status.loadCount, to: DatabaseMetrics.indexLoads)
        snapshot.add(status.changeCount, to: DatabaseMetrics.indexChanges)
        for (dataset, succeededAt, failedAt) in status.refreshes {
            if let time = succeededAt { snapshot.add(time, to: DatabaseMetrics.refreshSucceeded, dataset) }
            if let time = failedAt { snapshot.add(time, to: DatabaseMetrics.refreshFailed, dataset) }
        }
    }

    package func waitUntilServed(_ revision: Int64, atMost time: Duration) async -> Bool {
        let (end, feed) = AsyncStream.makeStream(of: Never.self)
        guard let waiter = index.addWaiter(for: revision, { feed.finish() }) else { return true }
        let timer = LoopTimer(loop: loop) { feed.finish() }
        timer.start(after: time)
        for await _ in end {}
        timer.close()
        index.removeWaiter(waiter)
        return index.isServing(revision)
    }

    /// Stops reading the places in memory.
    package func close() async { removeReader() }

    // A session of the mock ends without closing its store.
    deinit { removeReader() }

    private func removeReader() {
        if let reader { index.published.removeReader(reader) }
        reader = nil
    }
}

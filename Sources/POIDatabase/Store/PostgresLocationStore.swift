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
        watch =
            dataset.claimWatch()
            ? DatabaseWatch(
                configuration, reads: pool, route: route, dataset: dataset, connectionLog: connectionLog,
                record: record)
            : nil
    }

    /// How often a request is begun anew where its statements saw different data.
    private static let attemptLimit = 3

    /// Answers by the places nearest by the chord where those are known to be near, else by a search; begins
    /// anew where the data change on the way.
    public func locations(
        for request: LocationsRequest
    ) async throws(LocationStoreError) -> LocationsPage {
        guard let ranking = Ranking(pageOf: request) else {
            return LocationsPage(places: [PointOfInterest]())
        }
        var duration = Duration.zero
        var attempt = 1
        while true {
            let inquiry = Inquiry(pool)
            let answer = try await answer(PlaceSearch(request, ranking, inquiry, statements: wordStatements))
            duration += inquiry.duration
            if !inquiry.isTorn || attempt == Self.attemptLimit {
                return LocationsPage(
                    places: answer.places, next: answer.next, datasetID: inquiry.datasetID,
                    databaseDuration: duration)
            }
            attempt += 1
        }
    }

    private func answer(_ search: PlaceSearch) async throws(LocationStoreError) -> PlaceSearch.Answer {
        do throws(PostgresError) {
            let ranking = search.ranking
            // Behind a cursor, the places before it have to be walked past.
            let (depth, overflow) = (ranking.after?.count ?? 0).addingReportingOverflow(ranking.limit)
            if search.filter.isEmpty, search.request.box == nil, !overflow, regions[ranking.center],
                let nearest = LocationStatements.nearest(limit: depth - 1),
                let answer = try await search.nearby(nearest)
            {
                nearbyCount += 1
                return answer
            }
            let answer = try await search.anywhere()
            searchCount += 1
            cubeCount += search.cubeCount
            if search.filter.isEmpty, search.request.box == nil, ranking.after == nil {
                learn(from: answer, ranking)
            }
            return answer
        } catch {
            throw LocationStoreError(error)
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

import Migrator
import POIDatabase
import POIService
import Places
import Telemetry

/// The service over PostgreSQL, with its log: what `poi serve` and `poi dev` run.
struct DatabaseService: Sendable {
    private let configuration: ServiceConfiguration
    private let database: DatabaseConfiguration
    private let events: EventDatabaseConfiguration
    private let migrations: MigrationDirectory

    /// A service that doesn't run yet.
    ///
    /// - Parameter migrations: the service isn't ready without these.
    init(
        configuration: ServiceConfiguration, database: DatabaseConfiguration,
        events: EventDatabaseConfiguration, migrations: MigrationDirectory
    ) {
        self.configuration = configuration
        self.database = database
        self.events = events
        self.migrations = migrations
    }

    /// Serves until SIGTERM or SIGINT; see `Service.run`.
    ///
    /// - Throws: what `Observability.init` and `Service.run` throw.
    func run(onListening: @escaping @Sendable (String) -> Void) throws {
        let observability = try Observability(
            format: configuration.logFormat, logsAccess: configuration.logsAccess)
        defer { observability.finish() }
        let (dataset, route) = (DatasetState(), ReadRoute(database))
        let partitions = EventPartitionClaim(observability: observability)
        let placesLog = ConnectionLog(.places, record: observability.record)
        let eventsLog = ConnectionLog(.events, record: observability.record)
        let follower =
            database.index.use == .off
            ? nil
            : try IndexFollowerThread(
                database, dataset: dataset, route: route, connectionLog: placesLog,
                record: observability.record)
        defer { follower?.stop() }
        let service = Service(
            configuration: configuration, observability: observability,
            storeConnections: database.pool.connections + events.pool.connections + 1,
            makeStore: { loop in
                let store = PostgresPlaceStore(
                    configuration: database, migrations: migrations, loop: loop, dataset: dataset,
                    route: route, connectionLog: placesLog,
                    record: observability.record)
                guard let follower else { return store }
                return IndexedPlaceStore(
                    follower.index, fallback: store, isRequired: database.index.use == .on,
                    requestTimeout: database.requestTimeout, loop: loop)
            },
            makeEventStore: { loop in
                PostgresEventStore(
                    configuration: events, loop: loop, partitions: partitions, connectionLog: eventsLog)
            })
        try service.run { url in
            observability.record(.listening(url: url))
            // Not before: a process that can't listen says that and nothing else.
            follower?.begin()
            onListening(url)
        }
        observability.record(.stopped)
    }
}

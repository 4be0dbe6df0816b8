import Migrator
import POIDatabase
import POIService
import Places
import Telemetry

/// The service over PostgreSQL, with its log: what `poi serve` and `poi dev` run.
struct DatabaseService: Sendable {
    let configuration: ServiceConfiguration
    let database: DatabaseConfiguration
    let events: EventDatabaseConfiguration
    let edits: EditDatabaseConfiguration
    let migrations: MigrationDirectory

    func run(
        onListening: @escaping @Sendable (String) -> Void = { _ in },
        onReady: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        let observability = try Observability(
            format: configuration.logFormat, logsAccess: configuration.logsAccess)
        defer { observability.finish() }
        let partitions = EventPartitionClaim(observability: observability)
        let placesLog = ConnectionLog(.places, record: observability.record)
        let eventsLog = ConnectionLog(.events, record: observability.record)
        let editsLog = ConnectionLog(.edits, record: observability.record)
        let follower =
            database.index.use == .off
            ? nil
            : try IndexFollowerThread(
                database, migrations: migrations, connectionLog: placesLog, record: observability.record)
        defer { follower?.stop() }
        let service = Service(
            configuration: configuration, observability: observability,
            storeConnections: (follower == nil ? database.pool.connections : 0) + events.pool.connections
                + EditDatabaseConfiguration.connections + 1,
            makeStore: { loop in
                guard let follower else {
                    return PostgresPlaceStore(
                        configuration: database, migrations: migrations, loop: loop, connectionLog: placesLog)
                }
                return IndexedPlaceStore(follower.index, requestTimeout: database.requestTimeout, loop: loop)
            },
            makeEventStore: { loop in
                PostgresEventStore(
                    configuration: events, loop: loop, partitions: partitions, connectionLog: eventsLog)
            },
            makeEditStore: { loop in
                PostgresEditStore(configuration: edits, loop: loop, connectionLog: editsLog)
            })
        try service.run(
            onListening: { url in
                observability.record(.listening(url: url))
                if let target = database.postgres.targetByDefault {
                    observability.record(.databaseByDefault(target: target))
                }
                // Not before: a process that can't listen says that and nothing else.
                follower?.begin()
                onListening(url)
            }, onReady: onReady)
        observability.record(.stopped)
    }
}

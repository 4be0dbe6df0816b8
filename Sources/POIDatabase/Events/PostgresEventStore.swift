import EventLoop
import POIService
import PointsOfInterestAPI
import Postgres

/// The app's events in PostgreSQL: batches that wait at the same time are one statement, hence one commit.
///
/// Belongs to one loop, on which it has connections of its own.
public final class PostgresEventStore: EventStore {
    private struct Batch {
        let events: [StoredEvent]
        let continuation: UnsafeContinuation<Answer, Never>
    }

    private typealias Answer = Result<EventsResponse, EventStoreError>

    let pool: ConnectionPool
    private var groups: GroupCommit<Batch>
    private let keeper: EventPartitionKeeper?
    /// Whether its database is another than the places'.
    private let isSeparate: Bool

    /// What one statement takes, and what may wait on a loop meanwhile: some 100 ms of work, and a second of it.
    private static let eventsPerWrite = 4000
    private static let waitingEvents = 40_000
    /// How often a statement is sent that partitions which are just being made get in the way of.
    private static let attemptLimit = 5

    /// Starts connecting.
    ///
    /// - Parameters:
    ///   - partitions: the process's care for partitions; the first store that is made with it takes it on.
    ///   - connectionLog: logs what happens to connections; the same for all stores of a process.
    public init(
        configuration: EventDatabaseConfiguration, loop: EventLoop, partitions: EventPartitionCare? = nil,
        connectionLog: ConnectionLog? = nil
    ) {
        pool = ConnectionPool(
            configuration.postgres, options: configuration.pool, loop: loop,
            observe: { connectionLog?.observe($0) })
        isSeparate = configuration.isSeparate
        groups = GroupCommit(
            limits: .init(
                writers: configuration.pool.exclusiveConnections, eventsPerWrite: Self.eventsPerWrite,
                waitingEvents: Self.waitingEvents))
        keeper = partitions?.claim(configuration.postgres, loop: loop)
    }

    /// Writes the batch together with others that wait.
    ///
    /// Also where the caller's task is cancelled: a client that is gone may well send its events again.
    public func store(_ events: [StoredEvent]) async throws(EventStoreError) -> EventsResponse {
        try await withUnsafeContinuation { continuation in
            let batch = Batch(events: events, continuation: continuation)
            guard groups.add(batch, eventCount: events.count) else {
                return continuation.resume(returning: .failure(.busy))
            }
            startWriting()
        }.get()
    }

    /// The state of the connections.
    public func collectMetrics(into snapshot: inout MetricsSnapshot) {
        snapshot.add(pool.statistics.exclusive, of: .exclusive, to: .events)
        if let days = keeper?.daysLeft { snapshot.add(days, to: DatabaseMetrics.eventPartitionDaysLeft) }
    }

    /// Asks the database for any answer, if a connection is free to ask.
    public func checkHealth() async -> StoreHealth? {
        guard isSeparate else { return nil }
        // From then on it is known why there is no connection.
        await pool.waitUntilTried()
        let state = pool.statistics.exclusive
        guard state.connections == 0 || state.busyConnections < state.connections else {
            return nil
        }
        do throws(PostgresError) {
            _ = try await pool.query("SELECT 1", isIdempotent: true)
            return .reachable(missingMigrations: [])
        } catch {
            return error.code == .busy ? nil : .unreachable(reason: error.eventLogText)
        }
    }

    /// Closes the connections.
    public func close() async {
        await keeper?.close()
        await pool.close()
    }

    private func startWriting() {
        while let batches = groups.next() {
            let bound = LoopBound((self, batches), loop: pool.loop)
            Task(executorPreference: pool.loop) {
                let (store, batches) = bound.value
                await store.write(batches)
                store.groups.finished()
                store.startWriting()
            }
        }
    }

    private func write(_ batches: [Batch], attempt: Int = 1) async {
        let events = batches.count == 1 ? batches[0].events : batches.flatMap(\.events)
        do throws(PostgresError) {
            let rows = try await pool.query(
                EventStatements.insert, EventStatements.parameters(events), lane: .exclusive)
            let answers = try EventTally(rows: rows, eventCount: events.count).answers(batches.map(\.events))
            for (batch, answer) in zip(batches, answers) {
                batch.continuation.resume(returning: .success(answer))
            }
        } catch {
            if error.sqlState == .checkViolation, attempt < Self.attemptLimit {
                // The month of a row that was on its way into the DEFAULT partition has just got one of its own.
                await write(batches, attempt: attempt + 1)
            } else if error.isOfData, batches.count > 1 {
                // What one batch has at fault is not to fail the others.
                for batch in batches { await write([batch]) }
            } else {
                for batch in batches {
                    batch.continuation.resume(returning: .failure(EventStoreError(error)))
                }
            }
        }
    }
}

import EventLoop
import Foundation
import Places
import PointsOfInterestAPI
import Postgres
import Telemetry

/// Writes the app's events to PostgreSQL: batches that wait at the same time become one statement, and so one commit.
///
/// Belongs to one loop, on which it has connections of its own.
package final class PostgresEventStore: EventStore {
    private struct Batch {
        let events: [StoredEvent]
        let continuation: UnsafeContinuation<Outcome, Never>
        /// What the request's task waits for; nil where nobody wants to know.
        let waits: TaskWaits?
        let addedAt = MonotonicClock.nanoseconds()
    }

    private typealias Outcome = Result<EventsResponse, EventStoreError>

    let pool: ConnectionPool
    private var groups: GroupCommit<Batch>
    private let keeper: EventPartitionKeeper?
    /// Whether the events have another database than the places.
    private let isSeparate: Bool

    /// The maximum number of events in one statement, and of those that wait on a loop meanwhile: about 100 ms of work, and
    /// a second of it.
    private static let eventsPerWrite = 4000
    private static let waitingEvents = 40_000
    /// How often a statement is sent at most if it fails because partitions are being made.
    private static let attemptLimit = 5

    /// Starts connecting.
    ///
    /// - Parameter partitions: the first store of a process that is made with it keeps the partitions.
    package init(
        configuration: EventDatabaseConfiguration, loop: EventLoop, partitions: EventPartitionClaim? = nil,
        connectionLog: ConnectionLog? = nil
    ) {
        pool = ConnectionPool(
            configuration.postgres, options: configuration.pool, loop: loop,
            observe: { connectionLog?.observe($0) })
        isSeparate = configuration.isSeparate
        groups = GroupCommit(
            limits: .init(
                writers: configuration.pool.connections, eventsPerWrite: Self.eventsPerWrite,
                waitingEvents: Self.waitingEvents))
        keeper = partitions?.claim(configuration.postgres, loop: loop)
    }

    /// Writes the batch together with others that wait.
    ///
    /// It does so even if the caller's task is cancelled: a client that has gone may well send its events again.
    ///
    /// - Throws: `busy` where too many events wait; why the database couldn't be written.
    package func store(_ events: [StoredEvent]) async throws(EventStoreError) -> EventsResponse {
        try await withUnsafeContinuation { continuation in
            let batch = Batch(
                events: events, continuation: continuation, waits: TaskWaits.current?.value)
            guard groups.add(batch, eventCount: events.count) else {
                return continuation.resume(returning: .failure(.busy))
            }
            startWriting()
        }.get()
    }

    /// The state of the connections.
    package func collectMetrics(into snapshot: inout MetricsSnapshot) {
        snapshot.add(pool.statistics, to: .events)
        if let seconds = keeper?.secondsLeft { snapshot.add(seconds, to: DatabaseMetrics.eventPartitionLeft) }
    }

    /// Whether the database responds; nil where the places' store checks the same database, or no connection is free.
    package func checkHealth() async -> StoreHealth? {
        guard isSeparate else { return nil }
        // Waits for the first attempts to connect, after which it is known why a connection is missing.
        await pool.waitUntilTried()
        let state = pool.statistics
        guard state.connections == 0 || state.busyConnections < state.connections else {
            return nil
        }
        do throws(PostgresError) {
            _ = try await pool.query("SELECT 1", timeout: StoreHealth.maximumQueryTime, isIdempotent: true)
            return .reachable(missingMigrations: [])
        } catch {
            return error.code == .busy ? nil : .unreachable(reason: error.eventLogText)
        }
    }

    /// Closes the connections.
    package func close() async {
        await keeper?.close()
        await pool.close()
    }

    private func startWriting() {
        while let batches = groups.next() {
            let now = MonotonicClock.nanoseconds()
            for batch in batches { batch.waits?.addTurn(nanoseconds: now - batch.addedAt) }
            let bound = LoopBound((self, batches), loop: pool.loop)
            TaskWaits.$current.withValue(LoopBound(TaskWaits(), loop: pool.loop)) {
                _ = Task(executorPreference: pool.loop) {
                    let (store, batches) = bound.value
                    await store.write(batches)
                    store.groups.finished()
                    store.startWriting()
                }
            }
        }
    }

    /// Tells a batch's request what became of it, and what the write has waited for.
    private func finish(_ batch: Batch, _ outcome: Outcome) {
        if let times = TaskWaits.current?.value.times { batch.waits?.add(times) }
        batch.continuation.resume(returning: outcome)
    }

    private func write(_ batches: [Batch], attempt: Int = 1) async {
        let events = batches.count == 1 ? batches[0].events : batches.flatMap(\.events)
        do throws(PostgresError) {
            let rows = try await pool.query(
                EventStatements.insert, EventStatements.parameters(events))
            let responses = try InsertedEvents(row: rows.only(), eventCount: events.count)
                .responses(to: batches.map(\.events))
            for (batch, response) in zip(batches, responses) {
                finish(batch, .success(response))
            }
        } catch {
            if error.sqlState == .checkViolation, attempt < Self.attemptLimit {
                // A row was on its way into the DEFAULT partition when its month got a partition of its own.
                await write(batches, attempt: attempt + 1)
            } else if error.isCausedByEvents, batches.count > 1 {
                // A fault of one batch mustn't make the others fail.
                for batch in batches { await write([batch]) }
            } else {
                for batch in batches { finish(batch, .failure(EventStoreError(error))) }
            }
        }
    }
}

/// Which of the events that were written together were new.
private struct InsertedEvents {
    /// How many new ones have an id, as more than one may have where they differ in their time; nil where all were new.
    private var newIDs: [PostgresUUID: Int]?

    init(row: PostgresRow, eventCount: Int) throws(PostgresError) {
        guard try row.decode(Int.self, at: 0) < eventCount else { return }
        newIDs = (try row.decode([PostgresUUID]?.self, at: 1) ?? []).reduce(into: [:]) {
            $0[$1, default: 0] += 1
        }
    }

    /// A response to each batch, in their order. An event in two batches counts as new for the first.
    func responses(to batches: [[StoredEvent]]) -> [EventsResponse] {
        guard var newIDs else { return batches.map { EventsResponse(accepted: $0.count, duplicates: 0) } }
        return batches.map { events in
            let accepted = events.count { event in
                let id = PostgresUUID(event.key.id)
                guard let count = newIDs[id], count > 0 else { return event.key.isDerived }
                newIDs[id] = count - 1
                return true
            }
            return EventsResponse(accepted: accepted, duplicates: events.count - accepted)
        }
    }
}

// MARK: - SQL

/// The SQL of writing events.
private enum EventStatements {
    /// Inserts the events that are new, and returns their number, and their ids where that isn't all. `$1` to `$6` are the
    /// columns, an array each.
    ///
    /// The rows are inserted in the order of their keys, so that transactions that write the same events can't end in a
    /// deadlock: all of them wait for each other in the same direction.
    ///
    /// A commit that has written nothing doesn't wait for synchronous standbys. But an event that is stored already may be on
    /// the primary's disk alone, if a restart interrupted such a wait, and would be lost with that disk. So if there are
    /// duplicates, an empty message is written to the log: a standby that has the message also has everything before it.
    static let insert = PreparedStatement(
        """
        WITH new AS (\
        INSERT INTO events (id, time, user_id, name, value, is_test) \
        SELECT id, time, user_id, name, value, is_test \
        FROM unnest($1, $2, $3, $4, $5, $6) AS event (id, time, user_id, name, value, is_test) \
        ORDER BY id, time \
        ON CONFLICT DO NOTHING RETURNING id) \
        SELECT count(*), \
        CASE WHEN count(*) < cardinality($1) THEN array_agg(id) END, \
        CASE WHEN count(*) < cardinality($1) THEN pg_logical_emit_message(true, 'points-of-interest', '') END \
        FROM new
        """,
        parameters: [.uuidArray, .timestamptzArray, .textArray, .textArray, .jsonbArray, .boolArray])

    static func parameters(_ events: [StoredEvent]) -> [PostgresValue] {
        [
            .uuidArray(events.map { PostgresUUID($0.key.id) }),
            .timestamptzArray(events.map { PostgresTimestamp($0.key) }),
            .textArray(events.map(\.userID)), .textArray(events.map(\.name)),
            .jsonbArray(events.map(\.value)), .boolArray(events.map(\.isTest)),
        ]
    }
}

extension PostgresUUID {
    /// The same 16 bytes.
    init(_ id: UUID) {
        let halves = withUnsafeBytes(of: id.uuid) { bytes in
            (
                bytes.loadUnaligned(as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            )
        }
        self.init(high: UInt64(bigEndian: halves.0), low: UInt64(bigEndian: halves.1))
    }
}

extension PostgresTimestamp {
    /// The phone's time of an event. A time that no timestamp can hold becomes one of the infinities, so that no event is
    /// lost.
    init(_ key: StoredEvent.Key) {
        self =
            PostgresTimestamp(microsecondsSince1970: key.timeMicroseconds)
            ?? (key.timeMicroseconds < 0 ? .minusInfinity : .infinity)
    }
}

/// Decides which batches are written together: those that wait while others are being written.
///
/// A value: it takes batches and the ends of writes, and says what to write next. A write takes about as long as its
/// commit, so the more batches wait, the more share one commit. A batch that is alone is written at once.
struct GroupCommit<Batch> {
    /// How much may be under way at once.
    struct Limits: Hashable {
        /// Writes at once.
        var writers: Int
        /// Events in one write; a batch that is larger goes alone.
        var eventsPerWrite: Int
        var waitingEvents: Int
    }

    private let limits: Limits
    private var waiting: [(batch: Batch, eventCount: Int)] = []
    private var waitingEventCount = 0
    private var writing = 0

    init(limits: Limits) {
        self.limits = limits
    }

    /// Adds a batch; false where too many events wait.
    mutating func add(_ batch: Batch, eventCount: Int) -> Bool {
        guard waiting.isEmpty || waitingEventCount + eventCount <= limits.waitingEvents else { return false }
        waiting.append((batch, eventCount))
        waitingEventCount += eventCount
        return true
    }

    /// What is to be written now, in the order in which it came; nil while nothing waits, or all writers work.
    /// `finished` has to follow.
    mutating func next() -> [Batch]? {
        guard writing < limits.writers, !waiting.isEmpty else { return nil }
        writing += 1
        var count = 0
        var eventCount = 0
        for item in waiting {
            guard count == 0 || eventCount + item.eventCount <= limits.eventsPerWrite else { break }
            count += 1
            eventCount += item.eventCount
        }
        defer {
            waiting.removeFirst(count)
            waitingEventCount -= eventCount
        }
        return waiting.prefix(count).map(\.batch)
    }

    /// A write is over.
    mutating func finished() {
        writing -= 1
    }
}

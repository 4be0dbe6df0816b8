import EventLoop
import Foundation
import Loopback
import Places
import PointsOfInterestAPI
import Postgres
import PrivateCluster
import Testing

@testable import POIDatabase
@testable import Program

@Suite("Events in PostgreSQL", .timeLimit(.minutes(5)))
struct EventStoreTests {
    @Test("An event is kept once, whole, with the server's time beside the phone's")
    func whole() async throws {
        let event = StoredEvent.test(
            seconds: 1_536_753_250.92, userID: "Zoë \u{1F30D}", name: "page-view",
            value: #"{"page": "location-detail", "note": "a \"b\"\\n"}"#, isTest: true)
        try await MigratedDatabase.empty().withEventStore { store, session in
            let before = try await session.value("SELECT clock_timestamp()", as: PostgresTimestamp.self)
            #expect(try await store.store([event]) == EventsResponse(accepted: 1, duplicates: 0))
            let row = try await session.run(
                "SELECT id, time, received_at, user_id, name, value::text, is_test FROM events"
            ).only()
            #expect(try row.decode(PostgresUUID.self, at: 0) == PostgresUUID(event.key.id))
            #expect(
                try row.decode(PostgresTimestamp.self, at: 1).microsecondsSince1970 == 1_536_753_250_920_000)
            let after = try await session.value("SELECT clock_timestamp()", as: PostgresTimestamp.self)
            #expect((before...after).contains(try row.decode(PostgresTimestamp.self, at: 2)))
            #expect(try row.decode(String.self, at: 3) == "Zoë \u{1F30D}")
            #expect(try row.decode(String.self, at: 4) == "page-view")
            #expect(
                try row.decode(String.self, at: 5)
                    == #"{"note": "a \"b\"\\n", "page": "location-detail"}"#)
            #expect(try row.decode(Bool.self, at: 6))
        }
    }

    @Test("An event that is sent again is counted as a duplicate, and changes nothing")
    func duplicates() async throws {
        let events = (0..<100).map { _ in StoredEvent.test() }
        try await MigratedDatabase.empty().withEventStore { store, session in
            #expect(try await store.store(events) == EventsResponse(accepted: 100, duplicates: 0))
            let rows = "SELECT md5(string_agg(events::text, ',' ORDER BY id)) FROM events"
            let stored = try await session.value(rows, as: String.self)
            #expect(try await store.store(events.reversed()) == EventsResponse(accepted: 0, duplicates: 100))
            #expect(try await session.value(rows) == stored)
            // Some that are new among those that aren't, and one that is in the batch twice.
            let new = (0..<3).map { _ in StoredEvent.test() }
            let mixed = Array(events.prefix(50)) + new + [new[1]]
            #expect(try await store.store(mixed) == EventsResponse(accepted: 3, duplicates: 51))
            #expect(try await session.value("SELECT count(*) FROM events", as: Int.self) == 103)
        }
    }

    @Test("An event whose id is derived is stored once, and counts as accepted each time")
    func derived() async throws {
        let derived = StoredEvent.test(id: UUID(uuidString: "5C1F2E2A-7C55-8B1E-9C5E-0B6B2B2C9D11") ?? UUID())
        try await MigratedDatabase.empty().withEventStore { store, session in
            let batches = [[derived], [.test(), derived]]
            let responses = [
                try await store.store(batches[0]), try await store.store(batches[1]),
                try await store.store(batches[1]),
            ]
            #expect(responses.map(\.accepted) == [1, 2, 1])
            #expect(responses.map(\.duplicates) == [0, 0, 1])
            let count = try await session.value("SELECT count(*) FROM events", as: Int.self)
            #expect(count == 2)
        }
    }

    @Test("Events are the same only if both their id and their time are equal")
    func key() async throws {
        let id = UUID()
        let events = [
            StoredEvent.test(id: id, seconds: 1.5), .test(id: id, seconds: 1.500001), .test(seconds: 1.5),
        ]
        try await MigratedDatabase.empty().withEventStore { store, _ in
            let responses = [try await store.store(events), try await store.store(events)]
            #expect(responses.map(\.accepted) == [3, 0])
        }
    }

    @Test("A phone's clock may say anything that may be sent")
    func clocks() async throws {
        let seconds: [Double] = [
            EventLimits.times.lowerBound, -1, 0, 1e9, 4e9, 2.5e11, EventLimits.times.upperBound,
        ]
        let events = seconds.map { StoredEvent.test(seconds: $0) } + [.test()]
        try await MigratedDatabase.empty().withEventStore { store, session in
            #expect(try await store.store(events).accepted == events.count)
            let strays = try await session.value("SELECT count(*) FROM events_default", as: Int.self)
            #expect(strays == seconds.count)
            let finite = try await session.value(
                "SELECT count(*) FROM events WHERE isfinite(time)", as: Int.self)
            #expect(finite == events.count)
        }
    }

    @Test("Batches that wait at the same time share a transaction, and each gets its own response")
    func sharing() async throws {
        let shared = StoredEvent.test()
        let batches = (1...20).map { number in (0..<number).map { _ in StoredEvent.test() } + [shared] }
        try await MigratedDatabase.empty().withEventStore { store, session in
            let responses = try await store.storeAtOnce(batches).map { try $0.get() }
            for (batch, response) in zip(batches, responses) {
                #expect(response.accepted + response.duplicates == batch.count)
            }
            // Exactly one of the batches has brought the event that is in all of them.
            #expect(responses.map(\.duplicates).reduce(0, +) == batches.count - 1)
            let transactions = try await session.value(
                "SELECT count(DISTINCT xmin::text) FROM events", as: Int.self)
            // The first went alone, all others while it was written.
            #expect(transactions == 2)
        }
    }

    @Test("A batch that the database refuses fails alone")
    func faultyBatch() async throws {
        let faulty = [StoredEvent.test(), .test(value: "{broken")]
        let batches = [[StoredEvent.test()], [.test(), .test()], faulty, [.test()]]
        try await MigratedDatabase.empty().withEventStore { store, session in
            let responses = await store.storeAtOnce(batches)
            #expect(responses[2] == .failure(.failed(reason: "PostgreSQL: server (SQLSTATE 22P02)")))
            for index in [0, 1, 3] {
                #expect(
                    responses[index]
                        == .success(EventsResponse(accepted: batches[index].count, duplicates: 0)))
            }
            let count = try await session.value("SELECT count(*) FROM events", as: Int.self)
            #expect(count == 4)
        }
    }

    @Test("A batch that a trigger of the operator's refuses fails alone")
    func refusedByTrigger() async throws {
        let batches = [[StoredEvent.test()], [.test(name: "refused")], [.test()]]
        try await MigratedDatabase.empty().withEventStore { store, session in
            try await session.run(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN IF NEW.name = 'refused' THEN RAISE 'refused'; END IF; RETURN NEW; END $$
                """)
            try await session.run(
                "CREATE TRIGGER refuse BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION refuse()")
            let responses = await store.storeAtOnce([[StoredEvent.test()]] + batches)
            let accepted = responses.map { response in try? response.get().accepted }
            #expect(accepted == [1, 1, nil, 1])
        }
    }

    @Test("Sessions that write the same events in any order never end in a deadlock")
    func noDeadlock() async throws {
        let events = (0..<500).map { _ in StoredEvent.test() }
        let database = try MigratedDatabase.empty()
        let total = try await database.withEventStore({ $0.pool.connections = 4 }) { store, _ in
            let batches = (0..<12).map { _ in events.shuffled() }
            return try await store.storeAtOnce(batches).map { try $0.get().accepted }.reduce(0, +)
        }
        #expect(total == events.count)
    }

    @Test(
        "A batch whose commit is uncertain gets a response that says so, and may be sent again"
    )
    func unknownOutcome() async throws {
        let events = [StoredEvent.test()]
        try await MigratedDatabase.empty().withEventStore { store, session in
            // The first connection is there.
            _ = try await store.store([.test()])
            try await session.run("BEGIN")
            try await session.run("LOCK TABLE events")
            let storeBound = LoopBound(store, loop: store.pool.loop)
            let first = Task(executorPreference: store.pool.loop) {
                () -> Result<EventsResponse, EventStoreError> in
                await storeBound.value.storeAtOnce([events])[0]
            }
            // The table has the same number in every copy of a database.
            let blocked = """
                SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'events'::regclass
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                """
            var pids = try await session.run(blocked)
            while pids.isEmpty { pids = try await session.run(blocked) }
            try await session.run("SELECT pg_terminate_backend(\(try pids.only().decode(Int.self, at: 0)))")
            guard case .failure(.unavailable) = await first.value else {
                Issue.record("\(await first.value)")
                return
            }
            try await session.run("ROLLBACK")
            #expect(try await store.store(events) == EventsResponse(accepted: 1, duplicates: 0))
            #expect(try await store.store(events) == EventsResponse(accepted: 0, duplicates: 1))
        }
    }

    @Test("A database that takes no writes is unavailable for events, which are sent again later")
    func readOnly() async throws {
        let database = try MigratedDatabase.empty()
        try await database.withEventStore({
            $0.postgres.settings.append(.init("default_transaction_read_only", "on"))
        }) { store, _ in
            let error = await #expect(throws: EventStoreError.self) { try await store.store([.test()]) }
            #expect(error == .unavailable(reason: "PostgreSQL: server (SQLSTATE 25006)"))
        }
    }

    @Test("A commit waits for the disk, whatever the database is set to")
    func durability() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute("ALTER DATABASE \(database.name) SET synchronous_commit = off")
        try await database.withEventStore { store, _ in
            let row = try await store.pool.query(PostgresQuery("SHOW synchronous_commit")).only()
            #expect(try row.decode(String.self, at: 0) == "on")
        }
    }

    @Test("A role that may write and see keys, and nothing else, is enough")
    func leastRole() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(
            """
            CREATE ROLE event_writer LOGIN;
            GRANT INSERT, SELECT (id, time) ON events TO event_writer
            """)
        try await database.withEventStore({ configuration in
            let url = database.connectionString.replacing("postgres@", with: "event_writer@")
            try? configuration.use(connectionString: url)
        }) { store, session in
            #expect(try await store.store([.test(), .test(seconds: 0)]).accepted == 2)
            #expect(
                try await store.pool.query("SELECT current_user::text").only().decode(String.self, at: 0)
                    == "event_writer")
            try await session.run("DROP OWNED BY event_writer")
            try await session.run("DROP ROLE event_writer")
        }
    }
}

@Suite("Batches that are written together")
struct GroupCommitTests {
    private static func groups(writers: Int = 1, eventsPerWrite: Int = 100, waiting: Int = 1000)
        -> GroupCommit<String>
    {
        GroupCommit(
            limits: .init(writers: writers, eventsPerWrite: eventsPerWrite, waitingEvents: waiting))
    }

    @Test("A batch that comes alone is written at once")
    func alone() {
        var groups = Self.groups()
        #expect(groups.next() == nil)
        #expect(groups.add("a", eventCount: 10) == true)
        #expect(groups.next() == ["a"])
        #expect(groups.next() == nil)
    }

    @Test("Batches that come during a write are written together next, in their order")
    func together() {
        var groups = Self.groups()
        for batch in ["a", "b", "c", "d"] {
            #expect(groups.add(batch, eventCount: 30) == true)
            if batch == "a" { #expect(groups.next() == ["a"]) }
        }
        #expect(groups.next() == nil)
        groups.finished()
        #expect(groups.next() == ["b", "c", "d"])
        groups.finished()
        #expect(groups.next() == nil)
    }

    @Test("Batches are written together up to the limit of a write, and a larger batch alone")
    func limit() {
        var groups = Self.groups(eventsPerWrite: 100)
        for (batch, count) in [("a", 60), ("b", 40), ("c", 1), ("d", 500), ("e", 5)] {
            #expect(groups.add(batch, eventCount: count) == true)
        }
        var writes: [[String]] = []
        while let write = groups.next() {
            writes.append(write)
            groups.finished()
        }
        #expect(writes == [["a", "b"], ["c"], ["d"], ["e"]])
    }

    @Test("Several writers write at the same time")
    func writers() {
        var groups = Self.groups(writers: 2)
        for batch in ["a", "b", "c"] {
            #expect(groups.add(batch, eventCount: 1) == true)
            if batch != "c" { #expect(groups.next() == [batch]) }
        }
        #expect(groups.next() == nil)
        groups.finished()
        #expect(groups.next() == ["c"])
    }

    @Test("A batch is refused if too many events wait already, unless none waits")
    func bound() {
        var groups = Self.groups(waiting: 100)
        #expect(groups.add("a", eventCount: 500) == true)
        #expect(groups.add("b", eventCount: 1) == false)
        #expect(groups.next() == ["a"])
        #expect(groups.add("b", eventCount: 60) == true)
        #expect(groups.add("c", eventCount: 40) == true)
        #expect(groups.add("d", eventCount: 1) == false)
        groups.finished()
        #expect(groups.next() == ["b", "c"])
        #expect(groups.add("d", eventCount: 1) == true)
    }
}

extension StoredEvent {
    /// An event of a test, one of its own unless the test says which.
    static func test(
        id: UUID = UUID(), seconds: Double = Date.now.timeIntervalSince1970, userID: String = "user",
        name: String = "launch", value: String = "{}", isTest: Bool = false
    ) -> StoredEvent {
        StoredEvent(
            key: Key(id: id, timeMicroseconds: Int64(seconds * 1_000_000)), userID: userID, name: name,
            value: ArraySlice(value.utf8), isTest: isTest)
    }
}

extension TestDatabase {
    /// How the service would write events here, with deadlines that the busiest machine meets.
    func eventConfiguration() throws -> EventDatabaseConfiguration {
        var reader = SettingsReader(flags: [:], environment: ["POI_EVENTS_STATEMENT_TIMEOUT": "60s"])
        return try EventDatabaseConfiguration(from: &reader, database: configuration())
    }

    /// Runs `body` on a loop of its own with a store of events over this database, and a session beside it.
    func withEventStore<Value: Sendable>(
        _ change: @escaping @Sendable (inout EventDatabaseConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (PostgresEventStore, PostgresConnection) async throws -> Value
    ) async throws -> Value {
        var configuration = try eventConfiguration()
        change(&configuration)
        let database = try self.configuration().postgres
        return try await onLoop { [configuration] loop in
            let session = try await PostgresConnection.connect(database, loop: loop)
            let store = PostgresEventStore(configuration: configuration, loop: loop)
            let result: Result<Value, any Error>
            do {
                result = .success(try await body(store, session))
            } catch {
                result = .failure(error)
            }
            await store.close()
            await session.close()
            return try result.get()
        }
    }
}

extension PostgresEventStore {
    /// Stores batches at the same time; returns the outcome of each.
    func storeAtOnce(_ batches: [[StoredEvent]]) async -> [Result<EventsResponse, EventStoreError>] {
        let store = LoopBound(self, loop: pool.loop)
        let tasks = batches.map { events in
            Task(executorPreference: pool.loop) { () -> Result<EventsResponse, EventStoreError> in
                do throws(EventStoreError) {
                    return .success(try await store.value.store(events))
                } catch {
                    return .failure(error)
                }
            }
        }
        var results: [Result<EventsResponse, EventStoreError>] = []
        for task in tasks { results.append(await task.value) }
        return results
    }
}

import EventLoop
import Foundation
import Loopback
import Places
import PointsOfInterestAPI
import Postgres
import PrivateCluster
import Telemetry
import Testing

@testable import POIDatabase

@Suite("Partitions of events", .timeLimit(.minutes(5)))
struct EventPartitionTests {
    /// The first moment of a month, counted from this one, in UTC.
    private static func month(_ count: Int) -> String {
        "(date_trunc('month', now() AT TIME ZONE 'UTC') + \(count) * interval '1 month') AT TIME ZONE 'UTC'"
    }

    private static func name(_ count: Int) -> String {
        "to_char(now() AT TIME ZONE 'UTC' + \(count) * interval '1 month', '\"events_\"YYYY_MM')"
    }

    private static func insert(at moment: String, count: Int = 1) -> String {
        """
        INSERT INTO events (id, time, user_id, name)
        SELECT gen_random_uuid(), \(moment), 'user', 'launch' FROM generate_series(1, \(count))
        """
    }

    /// Which table has the events of a moment.
    private static func table(at moment: String) -> String {
        "SELECT tableoid::regclass::text FROM events WHERE time = \(moment) LIMIT 1"
    }

    @Test("A migrated database has partitions for last month, this one and three to come")
    func months() async throws {
        try await MigratedDatabase.empty().withSession { session in
            for month in -2...4 {
                // The first and the last moment of each.
                for moment in [Self.month(month), "\(Self.month(month + 1)) - interval '1 microsecond'"] {
                    try await session.run(Self.insert(at: moment))
                    let table = try await session.value(Self.table(at: moment), as: String.self)
                    let own = try await session.value("SELECT " + Self.name(month), as: String.self)
                    #expect(table == ((-1...3).contains(month) ? own : "events_default"))
                }
            }
            let partitions = try await EventPartitions(connection: session).make()
            #expect(partitions.map(\.outcome) == Array(repeating: .exists, count: 5))
        }
    }

    @Test("A new partition takes the events of its month out of the default partition")
    func strays() async throws {
        try await MigratedDatabase.empty().withSession { session in
            let name = try await session.value("SELECT " + Self.name(0), as: String.self)
            try await session.run("DROP TABLE \(name)")
            try await session.run(Self.insert(at: Self.month(0), count: 7))
            try await session.run(Self.insert(at: Self.month(9), count: 2))
            let rows = "SELECT md5(string_agg(events::text, ',' ORDER BY id)) FROM events"
            let before = try await session.value(rows, as: String.self)
            let made = try await EventPartitions(connection: session).make().filter { $0.outcome == .made }
            #expect(made.map(\.name) == [name])
            #expect(try await session.value("SELECT count(*) FROM \(name)", as: Int.self) == 7)
            #expect(try await session.value("SELECT count(*) FROM events_default", as: Int.self) == 2)
            #expect(try await session.value(rows, as: String.self) == before)
        }
    }

    @Test(
        "Events of a month stay in the default partition if they are too many to move; other months get theirs"
    )
    func tooManyStrays() async throws {
        try await MigratedDatabase.empty().withSession { session in
            for month in [0, 1] {
                let name = try await session.value("SELECT " + Self.name(month), as: String.self)
                try await session.run("DROP TABLE \(name)")
            }
            try await session.run(Self.insert(at: Self.month(0), count: 100_001))
            let partitions = try await EventPartitions(connection: session).make()
            #expect(partitions.map(\.outcome) == [.exists, .left, .made, .exists, .exists])
            // Again and again, and what comes is still taken.
            #expect(try await EventPartitions(connection: session).make().map(\.outcome)[1] == .left)
            try await session.run(Self.insert(at: Self.month(0)))
            #expect(try await session.value("SELECT count(*) FROM events_default", as: Int.self) == 100_002)
        }
    }

    @Test("Several sessions may make partitions at the same time, while events are stored")
    func concurrency() async throws {
        let database = try MigratedDatabase.empty()
        let moments = try (-2...4).map { month in
            let name = try database.execute("SELECT \(Self.name(month))")
            try database.execute("DROP TABLE IF EXISTS \(name)")
            return try #require(
                Double(try database.execute("SELECT extract(epoch FROM \(Self.month(month)))")))
        }
        async let stored = database.withEventStore({ $0.pool.connections = 2 }) { store, _ in
            var count = 0
            for _ in 0..<50 {
                let batches = moments.map { [StoredEvent.test(seconds: $0), .test(seconds: $0 + 1)] }
                for result in await store.storeAtOnce(batches) { count += try result.get().accepted }
            }
            return count
        }
        let made = try await database.withSessions(4) { sessions in
            let makers = sessions.map { LoopBound($0, loop: $0.loop) }.map { session in
                Task(executorPreference: session.loop) {
                    try await EventPartitions(connection: session.value).make().count { $0.outcome == .made }
                }
            }
            var made = 0
            for maker in makers { made += try await maker.value }
            return made
        }
        #expect(made == 5)
        let count = try await stored
        #expect(count == 50 * 2 * moments.count)
        #expect(try database.execute("SELECT count(*) FROM events") == "\(count)")
        let astray = "time >= \(Self.month(-1)) AND time < \(Self.month(4))"
        #expect(try database.execute("SELECT count(*) FROM events_default WHERE \(astray)") == "0")
    }

    @Test("A batch that waits while the partition of its month is made ends up in it")
    func batchMeanwhile() async throws {
        try await MigratedDatabase.empty().withEventStore { store, session in
            let name = try await session.value("SELECT " + Self.name(0), as: String.self)
            try await session.run("DROP TABLE \(name)")
            try await session.run("BEGIN")
            try await session.run("SELECT make_events_partition((now() AT TIME ZONE 'UTC')::date)")
            let response = Task(executorPreference: store.pool.loop) {
                [store = LoopBound(store, loop: store.pool.loop)] in
                try await store.value.store([.test(), .test()])
            }
            let isWaiting = """
                SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'events_default'::regclass AND NOT granted
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
                """
            while try await !session.value(isWaiting, as: Bool.self) { try Task.checkCancellation() }
            try await session.run("COMMIT")
            #expect(try await response.value == EventsResponse(accepted: 2, duplicates: 0))
            #expect(try await session.value("SELECT count(*) FROM \(name)", as: Int.self) == 2)
        }
    }

    @Test("Partitions older than the months to keep are dropped, and so are old events with a wrong clock")
    func retention() async throws {
        try await MigratedDatabase.empty().withSession { session in
            for month in -5 ... -2 {
                try await session.run(
                    "SELECT make_events_partition((\(Self.month(month)) AT TIME ZONE 'UTC')::date)")
            }
            for month in -5...0 { try await session.run(Self.insert(at: Self.month(month))) }
            let strange = "'2001-01-01 00:00+00'::timestamptz"
            try await session.run(Self.insert(at: strange, count: 3))
            try await session.run(
                """
                UPDATE events_default SET received_at = \(Self.month(-2)) - interval '1 microsecond'
                WHERE id IN (SELECT id FROM events_default LIMIT 2)
                """)
            let names = try await session.run("SELECT \(Self.name(-5)), \(Self.name(-4)), \(Self.name(-3))")
                .only()
            let dropped = try await EventPartitions(connection: session).drop(keepingMonths: 2)
            #expect(try dropped == (0..<3).map { try names.decode(at: $0) })
            let months = "SELECT count(*) FROM events WHERE time >= \(Self.month(-2))"
            #expect(try await session.value(months, as: Int.self) == 3)
            #expect(try await session.value("SELECT count(*) FROM events", as: Int.self) == 4)
            #expect(try await EventPartitions(connection: session).drop(keepingMonths: 2) == [])
        }
    }

    @Test("A table that somebody else has made a partition is left alone")
    func foreignPartition() async throws {
        try await MigratedDatabase.empty().withSession { session in
            try await session.run(
                "CREATE TABLE events_2001 PARTITION OF events FOR VALUES FROM ('2001-01-01') TO ('2002-01-01')"
            )
            #expect(try await EventPartitions(connection: session).drop(keepingMonths: 1).isEmpty)
            #expect(try await session.value("SELECT count(*) FROM events_2001", as: Int.self) == 0)
        }
    }
}

@Suite("The keeper of partitions", .timeLimit(.minutes(5)))
struct EventPartitionKeeperTests {
    /// The first line that a keeper logs, and for how many seconds there are partitions then.
    private func firstLine(
        on database: TestDatabase, as role: String = "postgres"
    ) async throws -> (line: String, secondsLeft: Int?) {
        let pipe = Pipe()
        let observability = try Observability(
            format: .json, logsAccess: false, descriptor: pipe.fileHandleForWriting.fileDescriptor)
        let url = database.connectionString.replacing("postgres@", with: "\(role)@")
        return try await onLoop { loop in
            let claim = EventPartitionClaim(observability: observability)
            let configuration = try PostgresConfiguration(conninfo: url)
            let keeper = claim.claim(configuration, loop: loop)
            #expect(keeper != nil)
            // The second caller has nothing to do.
            #expect(claim.claim(configuration, loop: loop) == nil)
            let line = Task.detached { pipe.fileHandleForReading.availableData }
            #expect(keeper?.secondsLeft == nil)
            let text = await line.value
            let secondsLeft = keeper?.secondsLeft
            await keeper?.close()
            observability.finish()
            return (String(decoding: text, as: UTF8.self), secondsLeft)
        }
    }

    @Test("The keeper makes missing partitions, and logs that")
    func making() async throws {
        let database = try MigratedDatabase.empty()
        let name = try database.execute("SELECT to_char(now() AT TIME ZONE 'UTC', '\"events_\"YYYY_MM')")
        try database.execute("DROP TABLE \(name)")
        let (line, secondsLeft) = try await firstLine(on: database)
        #expect(line.contains(#""event":"event-partitions-made""#))
        #expect(line.contains(name))
        let expected = try database.execute(
            """
            SELECT floor(extract(epoch FROM
                (date_trunc('month', now() AT TIME ZONE 'UTC') + interval '4 months') AT TIME ZONE 'UTC' - now()
            ))
            """)
        // Some time passes between the two.
        #expect(try (0...60).contains(#require(secondsLeft) - #require(Int(expected))))
        #expect(try database.execute("SELECT count(*) FROM \(name)") == "0")
    }

    @Test("The keeper logs that its role may not make partitions, and which command to run")
    func notAllowed() async throws {
        let database = try MigratedDatabase.empty()
        let name = try database.execute("SELECT to_char(now() AT TIME ZONE 'UTC', '\"events_\"YYYY_MM')")
        try database.execute(
            "DROP TABLE \(name); CREATE ROLE event_server LOGIN; GRANT INSERT ON events TO event_server")
        let (line, secondsLeft) = try await firstLine(on: database, as: "event_server")
        #expect(secondsLeft == 0)
        #expect(line.contains(#""event":"event-partitions-failed""#))
        #expect(line.contains("poi events maintain"))
        try database.execute("DROP OWNED BY event_server; DROP ROLE event_server")
    }
}

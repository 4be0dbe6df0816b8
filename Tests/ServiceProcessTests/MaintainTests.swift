import Foundation
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("poi maintain", .timeLimit(.minutes(5)))
struct MaintainTests {
    private static let placeCount = 8000
    private static let content = "SELECT md5(string_agg(locations::text, ',' ORDER BY id)) FROM locations"

    /// A database with places in no order, and a session with it.
    private static func shuffled() async throws -> (TestDatabase, DatabaseSession) {
        let database = try await ServiceDatabase.migrated()
        let session = try DatabaseSession(database.connectionString)
        try await session.run(
            """
            TRUNCATE locations;
            INSERT INTO locations (name, category, latitude, longitude)
            SELECT 'Place ' || number, 'park', mod(number * 0.618, 1) * 100 - 50, mod(number * 0.7548, 1) * 300 - 150
            FROM generate_series(1, \(placeCount)) AS number ORDER BY md5(number::text);
            ANALYZE locations
            """)
        return (database, session)
    }

    private static func start(_ database: TestDatabase) throws -> ChildProgram {
        try ChildProgram(
            executable: PoiProgram.executable.path, arguments: ["maintain"],
            environment: ["DATABASE_URL": database.connectionString])
    }

    private static func run(_ arguments: [String] = [], _ database: TestDatabase) async throws
        -> PoiProgram.Result
    {
        try await PoiProgram.run(
            ["maintain"] + arguments, environment: ["DATABASE_URL": database.connectionString])
    }

    @Test(
        "poi maintain ends after the batch in which a signal comes, and the next run goes on",
        arguments: [SIGTERM, SIGINT])
    func stop(signal: Int32) async throws {
        let (database, session) = try await Self.shuffled()
        let content = try await session.run(Self.content)
        // It waits for this before its first batch.
        try await session.run("BEGIN; LOCK TABLE locations IN SHARE MODE")
        let program = try Self.start(database)
        try await session.waitForBlockedQueries()
        program.send(signal: signal)
        try await session.run("COMMIT")
        #expect(try await program.exitCode() == 1)
        let line = try #require(program.output.lines.first?.text)
        let name = signal == SIGTERM ? "SIGTERM" : "SIGINT"
        #expect(
            line.wholeMatch(
                of: try Regex(
                    "poi: stopped by \(name): [0-9]+ of \(Self.placeCount) places are in spatial order; the next run goes on there"
                )) != nil, "\(line)")
        #expect(program.output.lines.count == 1)
        // Between the runs somebody else clears away.
        try await session.run("COMMIT")
        try await session.run("VACUUM locations")
        let next = try await Self.run([], database)
        #expect(next.exitCode == 0 && next.standardError == [])
        #expect(next.standardOutput.first?.hasSuffix(" places written in spatial order") == true)
        #expect(next.standardOutput.first != "\(Self.placeCount) places written in spatial order")
        #expect(try await session.run(Self.content) == content)
        #expect(
            try await Self.run([], database).standardOutput == [
                "nothing to do: the places are in spatial order, or too few for it to matter"
            ])
    }

    @Test("poi maintain loses nothing if it is killed, and the next run goes on")
    func kill() async throws {
        let (database, session) = try await Self.shuffled()
        let content = try await session.run(Self.content)
        let last = "(SELECT max(ctid) FROM locations)"
        let end = try await session.run("SELECT \(last)")
        let program = try Self.start(database)
        try await session.wait(until: "\(last) > '\(end[0])'")
        program.send(signal: SIGKILL)
        _ = try await program.exitCode()
        // The server notices when the statement that is under way has ended.
        try await session.wait(
            until:
                "count(*) = 0 FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        #expect(try await session.run(Self.content) == content)
        #expect(try await Self.run([], database).exitCode == 0)
        #expect(try await session.run(Self.content) == content)
        #expect(
            try await Self.run([], database).standardOutput == [
                "nothing to do: the places are in spatial order, or too few for it to matter"
            ])
    }

    @Test("Two runs at once are refused, and what a cut off run left behind is dropped by the next")
    func claim() async throws {
        let (database, session) = try await Self.shuffled()
        try await session.run(
            """
            CREATE INDEX locations_pkey_ccnew ON locations (id);
            UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'locations_pkey_ccnew'::regclass;
            BEGIN; LOCK TABLE locations IN SHARE MODE
            """)
        let program = try Self.start(database)
        try await session.waitForBlockedQueries()
        let second = try await Self.run([], database)
        #expect(second.exitCode == 1)
        #expect(second.standardError == ["poi: another poi maintain is at work"])
        try await session.run("COMMIT")
        #expect(try await program.exitCode() == 0)
        #expect(
            program.output.lines.first?.text
                == "locations_pkey_ccnew: dropped, which an earlier run had left unfinished")
        #expect(try await session.run("SELECT to_regclass('locations_pkey_ccnew')") == [""])
    }

    @Test("On a terminal poi maintain shows its progress, and a wrong call is exit code 64")
    func progress() async throws {
        let (database, _) = try await Self.shuffled()
        // script(1) gives it a terminal.
        let program = try ChildProgram(
            executable: "/usr/bin/env",
            arguments: [
                "script", "--quiet", "--return", "--command",
                "\(PoiProgram.executable.path) maintain >/dev/null",
                "/dev/null",
            ],
            environment: [
                "DATABASE_URL": database.connectionString,
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            ])
        #expect(try await program.exitCode() == 0)
        #expect(
            program.output.text.contains("] 100 %  \(Self.placeCount) of \(Self.placeCount) places"))
        #expect(program.output.text.contains("] 25 %  2000 of \(Self.placeCount) places"))
        #expect(try await Self.run(["now"], database).exitCode == 64)
        #expect(try await Self.run(["--fast"], database).exitCode == 64)
    }
}

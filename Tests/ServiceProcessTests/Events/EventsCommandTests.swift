import Foundation
import Loopback
import PointsOfInterestClient
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("poi events", .timeLimit(.minutes(2)))
struct EventsCommandTests {
    private static let events = """
        INSERT INTO events (id, time, received_at, user_id, name, is_test)
        SELECT gen_random_uuid(), '2026-11-01 12:00+00', '2026-11-02 12:00+00'::timestamptz + n * interval '1 hour',
            'user', 'launch', n % 10 = 0
        FROM generate_series(0, 99) AS n
        """

    private func run(_ arguments: [String], on database: TestDatabase) async throws -> PoiProgram.Result {
        try await PoiProgram.run(
            ["events"] + arguments, environment: ["DATABASE_URL": database.connectionString])
    }

    @Test("Maintenance makes what is missing, drops what is too old, and says what it has done")
    func maintain() async throws {
        let database = try await ServiceDatabase.migrated()
        let nothing = try await run(["maintain"], on: database)
        #expect(nothing.exitCode == 0 && nothing.standardError == [])
        #expect(nothing.standardOutput == ["nothing to do"])
        let session = try DatabaseSession(database.connectionString)
        let names = try await session.run(
            "SELECT to_char(now() AT TIME ZONE 'UTC' + n * interval '1 month', '\"events_\"YYYY_MM') FROM (VALUES (0), (-5)) AS v (n)"
        )
        try await session.run("DROP TABLE \(names[0])")
        try await session.run(
            "SELECT make_events_partition((now() AT TIME ZONE 'UTC' - interval '5 months')::date)")
        let result = try await run(["maintain", "--events-retention", "3 months"], on: database)
        #expect(result.exitCode == 0)
        #expect(result.standardOutput == ["\(names[0]): made", "\(names[1]): dropped"])
        // Without a retention everything stays.
        try await session.run(
            "SELECT make_events_partition((now() AT TIME ZONE 'UTC' - interval '5 months')::date)")
        #expect(try await run(["maintain"], on: database).standardOutput == ["nothing to do"])
    }

    @Test("What is to be done daily is one command, which does it for events, the history and reports")
    func daily() async throws {
        let database = try await ServiceDatabase.migrated()
        let session = try DatabaseSession(database.connectionString)
        try await session.run(
            """
            INSERT INTO place_reports (id, place_id, reason, reported_at)
            VALUES (gen_random_uuid(), 1, 'closed', now() - interval '200 days')
            """)
        let names = try await session.run(
            """
            SELECT to_char(now() AT TIME ZONE 'UTC', name || 'YYYY_MM')
            FROM (VALUES ('"events_"'), ('"location_versions_"')) AS partitions (name)
            """)
        for name in names { try await session.run("DROP TABLE \(name)") }
        let result = try await PoiProgram.run(
            ["maintain"], environment: ["DATABASE_URL": database.connectionString])
        #expect(result.exitCode == 0 && result.standardError == [])
        #expect(
            result.standardOutput == [
                "events: \(names[0]): made", "history: \(names[1]): made", "reports: 1 deleted",
            ])
    }

    @Test("An export writes to standard output, and nothing else, without a terminal")
    func export() async throws {
        let database = try await ServiceDatabase.migrated()
        let session = try DatabaseSession(database.connectionString)
        try await session.run(Self.events)
        let result = try await run(["export", "--since", "2026-11-02"], on: database)
        #expect(result.exitCode == 0)
        #expect(result.standardError == [])
        #expect(result.standardOutput.count == 90)
        for line in result.standardOutput {
            let event = try JSONDecoder().decode(TrackedEvent.self, from: Data(line.utf8))
            #expect(event.event == .launch && event.userID == "user")
        }

        let csv = try await run(
            [
                "export", "--since", "2026-11-02T13:00:00Z", "--until", "2026-11-02T18:00:00+01:00",
                "--format", "csv", "--include-tests",
            ], on: database)
        #expect(csv.exitCode == 0 && csv.standardError == [])
        #expect(csv.standardOutput.first == "id,user_id,time,received_at,name,value,test")
        #expect(csv.standardOutput.count == 1 + 4)
    }

    @Test("An export that can't be written, or read, is one line and exit code 1, and leaves no file behind")
    func failures() async throws {
        let database = try await ServiceDatabase.migrated()
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let since = ["export", "--since", "2026-11-01"]
        let session = try DatabaseSession(database.connectionString)
        try await session.run(Self.events)
        let full = try await run(since + ["--output", "/dev/full/x"], on: database)
        #expect(full.exitCode == 1)
        #expect(full.standardError.count == 1 && full.standardError[0].hasPrefix("poi: /dev/full/x"))
        try await session.run("ALTER TABLE events RENAME TO other_events")
        let result = try await run(since + ["--output", folder.path + "/events"], on: database)
        #expect(result.exitCode == 1)
        #expect(result.standardError.count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test("An export on a terminal shows its progress")
    func progress() async throws {
        let database = try await ServiceDatabase.migrated()
        try await DatabaseSession(database.connectionString).run(Self.events)
        // script(1) gives it a terminal.
        let program = try ChildProgram(
            executable: "/usr/bin/env",
            arguments: [
                "script", "--quiet", "--return", "--command",
                "\(PoiProgram.executable.path) events export --since 2026-11-02 >/dev/null", "/dev/null",
            ],
            environment: [
                "DATABASE_URL": database.connectionString,
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            ])
        #expect(try await program.exitCode() == 0)
        #expect(program.output.text.contains("[\(String(repeating: "#", count: 40))] 100 %  90 of 90 events"))
        #expect(program.output.text.contains("[\(String(repeating: "-", count: 40))] 0 %  0 of 90 events"))
    }

    /// A database with events, a folder, and how a shell would call an export from it to `path`.
    private func exportScene() async throws -> (TestDatabase, TemporaryFolder) {
        let database = try await ServiceDatabase.migrated()
        try await DatabaseSession(database.connectionString).run(Self.events)
        return (database, try TemporaryFolder())
    }

    private func names(in folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func kind(of path: String) throws -> FileAttributeType? {
        try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    }

    @Test("An export goes into a FIFO and a device, and leaves both what they are")
    func exportToDevice() async throws {
        let (database, folder) = try await exportScene()
        defer { folder.remove() }
        let fifo = folder.path + "/fifo"
        try #require(mkfifo(fifo, 0o600) == 0)
        async let read = offPool {
            try FileHandle(forReadingFrom: URL(filePath: fifo)).readToEnd() ?? Data()
        }
        let toFIFO = try await run(["export", "--since", "2026-11-02", "--output", fifo], on: database)
        // Where nothing was written, the reader would wait for ever.
        try FileHandle(forUpdating: URL(filePath: fifo)).close()
        #expect(toFIFO.exitCode == 0 && toFIFO.standardError == [])
        #expect(try await read.count { $0 == UInt8(ascii: "\n") } == 90)
        #expect(try names(in: folder) == ["fifo"])
        // Else the rest would, as root, replace the machine's devices.
        try #require(try kind(of: fifo) != .typeRegular)
        let toNothing = try await run(
            ["export", "--since", "2026-11-02", "--output", "/dev/null"], on: database)
        #expect(toNothing.exitCode == 0 && toNothing.standardError == [])
        #expect(try kind(of: "/dev/null") == .typeCharacterSpecial)
        let toFull = try await run(
            ["export", "--since", "2026-11-02", "--output", "/dev/full"], on: database)
        #expect(toFull.exitCode == 1)
        #expect(toFull.standardError == ["poi: /dev/full: No space left on device"])
    }

    @Test("An export to /dev/stdout adds to the file that the shell opened for it")
    func exportToOpenFile() async throws {
        let (database, folder) = try await exportScene()
        defer { folder.remove() }
        let file = folder.path + "/events"
        try "first\n".write(toFile: file, atomically: true, encoding: .utf8)
        let result = try await PoiProgram.run(
            [
                "-c", #"exec "$@" >>"$FILE""#, "sh", PoiProgram.executable.path(percentEncoded: false),
                "events",
                "export", "--since", "2026-11-02", "--output", "/dev/stdout",
            ], of: URL(filePath: "/bin/sh"),
            environment: ["DATABASE_URL": database.connectionString, "FILE": file])
        #expect(result.exitCode == 0 && result.standardError == [])
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 91 && lines.first == "first")
        #expect(try names(in: folder) == ["events"])
    }

    @Test("An export through a link replaces what the link leads to, and the link stays")
    func exportThroughLink() async throws {
        let (database, folder) = try await exportScene()
        defer { folder.remove() }
        let elsewhere = folder.path + "/elsewhere"
        try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
        try "old".write(toFile: elsewhere + "/present", atomically: true, encoding: .utf8)
        for (link, target) in [("link", "elsewhere/present"), ("dangling", "elsewhere/new")] {
            let path = folder.path + "/" + link
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
            let result = try await run(["export", "--since", "2026-11-02", "--output", path], on: database)
            #expect(result.exitCode == 0 && result.standardError == [])
            #expect(try kind(of: path) == .typeSymbolicLink)
            let text = try String(contentsOfFile: folder.path + "/" + target, encoding: .utf8)
            #expect(text.split(separator: "\n").count == 90)
        }
        #expect(try names(in: folder) == ["dangling", "elsewhere", "link"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: elsewhere).sorted() == ["new", "present"])
        let loop = folder.path + "/loop"
        try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: "loop")
        let result = try await run(["export", "--since", "2026-11-02", "--output", loop], on: database)
        #expect(result.exitCode == 1)
        #expect(result.standardError == ["poi: \(loop): Too many levels of symbolic links"])
    }
}

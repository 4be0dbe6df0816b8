import Migrator
import Testing

/// What to do about files for after the roll-out, without a database.
@Suite("A plan for after the roll-out")
struct AfterRollOutPlanTests {
    /// 1 and 3 are the schema's, 2 and 4 remove something when the roll-out is over.
    private let directory: MigrationDirectory

    init() throws {
        func file(_ name: String, _ kind: MigrationFile.Kind, oldest: String) throws -> MigrationFile {
            let text = "-- poi:oldest-program \(oldest)\n" + migration(up: "SELECT 1;", down: "SELECT 2;")
            return try MigrationFile(fileName: "\(name).sql", kind: kind, bytes: Array(text.utf8))
        }
        directory = try MigrationDirectory(files: [
            file("0001_a", .schema, oldest: "0.1.0"), file("0002_drop_a", .afterRollOut, oldest: "0.10.0"),
            file("0003_b", .schema, oldest: "0.1.0"), file("0004_drop_b", .afterRollOut, oldest: "0.9.0"),
        ])
    }

    private func applied(_ versions: String...) -> [AppliedMigration] {
        versions.map { version in
            AppliedMigration(
                version: version, checksum: directory.files.first { $0.version == version }?.checksum)
        }
    }

    /// The steps, and the names of the files that go on waiting.
    private func plan(
        _ command: MigrationPlan.Command, _ applied: [AppliedMigration]
    ) throws -> [[String]] {
        let plan = try MigrationPlan(command, directory: directory, applied: applied, includesSeeds: false)
        return [plan.steps.map(\.description), plan.waiting.map(\.name)]
    }

    @Test(
        "Up lists the files for after the roll-out as waiting, and up with --finish applies them last, in order"
    )
    func up() throws {
        #expect(
            try plan(.up(to: nil), []) == [
                ["apply 0001_a", "apply 0003_b"], ["0002_drop_a", "0004_drop_b"],
            ])
        #expect(
            try plan(.up(to: nil, finish: true), []) == [
                ["apply 0001_a", "apply 0003_b", "apply 0002_drop_a", "apply 0004_drop_b"], [],
            ])
    }

    @Test("A file for after the roll-out is never out of order, and doesn't make other files out of order")
    func order() throws {
        let rolledOut = applied("0001", "0003")
        #expect(try plan(.up(to: nil), rolledOut) == [[], ["0002_drop_a", "0004_drop_b"]])
        #expect(
            try plan(.up(to: nil, finish: true), rolledOut) == [
                ["apply 0002_drop_a", "apply 0004_drop_b"], [],
            ])
        #expect(try plan(.up(to: nil), applied("0001", "0002")) == [["apply 0003_b"], ["0004_drop_b"]])
        // As for any other applied file.
        #expect(throws: MigrationError.outOfOrder(name: "0003_b", highestApplied: "0004")) {
            try plan(.up(to: nil), applied("0001", "0004"))
        }
    }

    @Test("A target version also bounds the files for after the roll-out")
    func target() throws {
        #expect(try plan(.up(to: "2"), []) == [["apply 0001_a"], ["0002_drop_a"]])
        #expect(try plan(.up(to: "2", finish: true), []) == [["apply 0001_a", "apply 0002_drop_a"], []])
        #expect(
            try plan(.up(to: "3", finish: true), []) == [
                ["apply 0001_a", "apply 0003_b", "apply 0002_drop_a"], [],
            ])
    }

    @Test("Down undoes the files for after the roll-out like any other file")
    func down() throws {
        let all = applied("0001", "0002", "0003", "0004")
        #expect(try plan(.down(to: nil), all) == [["undo 0004_drop_b"], []])
        #expect(
            try plan(.down(to: "1"), all) == [["undo 0004_drop_b", "undo 0003_b", "undo 0002_drop_a"], []])
        #expect(try plan(.down(to: nil), applied("0001", "0003")) == [["undo 0003_b"], []])
    }

    @Test("A file for after the roll-out that was edited after it had been applied is refused")
    func edited() {
        let rows = applied("0001") + [AppliedMigration(version: "0002", checksum: "other")]
        #expect(throws: MigrationError.editedFile(name: "0002_drop_a")) { try plan(.up(to: nil), rows) }
    }

    @Test(
        "The status marks files for after the roll-out, and a run says from which release on they can be applied"
    )
    func texts() {
        #expect(
            MigrationStatus(directory: directory, applied: applied("0001", "0002", "0003")).description == """
                applied     0001_a
                applied     0002_drop_a (after the roll-out)
                applied     0003_b
                waiting     0004_drop_b (after the roll-out)
                3 applied, 1 waiting for the roll-out
                """)
        let waiting = directory.files.filter { $0.kind == .afterRollOut }
        #expect(
            MigrationEvent.waitingForRollOut(waiting).description
                == "2 waiting for the roll-out (0002_drop_a, 0004_drop_b): once no server is older than 0.10.0, "
                + "apply with --finish")
    }
}

/// Files for after the roll-out in a database.
@Suite("A run after the roll-out", .timeLimit(.minutes(2)))
struct AfterRollOutTests {
    private static let finish = MigrationPlan.Command.up(to: nil, finish: true)

    /// A scene with a table `a`, and a file that does something to it after the roll-out.
    private func scene(_ up: String, options: String = "") throws -> Scene {
        try Scene([
            "0001_create_a.sql": migration(up: "CREATE TABLE a (n int);", down: "DROP TABLE a;"),
            "AfterRollOut/0002_drop_a.sql": Self.file(up, options: options),
        ])
    }

    private static func file(_ up: String, options: String = "") -> String {
        "-- poi:oldest-program 0.3.0\n" + migration(up: up, down: "CREATE TABLE a (n int);", options: options)
    }

    @Test("A waiting file lets later files be applied, is valid meanwhile, and is applied by --finish")
    func waits() async throws {
        let scene = try scene("DROP TABLE a;")
        let recorder = EventRecorder()
        #expect(try await scene.run(.up(to: nil), recorder: recorder) == ["apply 0001_create_a"])
        let line =
            "1 waiting for the roll-out (0002_drop_a): once no server is older than 0.3.0, apply with --finish"
        #expect(recorder.events.last?.description == line)

        try scene.folder.write("0003_create_b.sql", migration(up: "CREATE TABLE b (n int);"))
        #expect(try await scene.run(.up(to: nil)) == ["apply 0003_create_b"])
        try await scene.withMigrator { try await $0.validate() }
        let later = EventRecorder()
        #expect(try await scene.run(.up(to: nil), recorder: later) == [])
        #expect(later.events.map(\.description) == ["nothing to do", line])

        let rehearsal = EventRecorder()
        try await scene.run(Self.finish, isDryRun: true, recorder: rehearsal)
        #expect(rehearsal.events.map(\.description) == ["would apply 0002_drop_a"])
        #expect(try scene.versions == "0001,0003")

        #expect(try await scene.run(Self.finish) == ["apply 0002_drop_a"])
        #expect(try scene.versions == "0001,0002,0003")
        #expect(try !scene.hasTable("a"))
        try await scene.withMigrator { try await $0.validate() }
        // An older release reads here that it is too old.
        let oldest = "SELECT oldest_program FROM schema_migrations WHERE version = '0002'"
        #expect(try scene.database.execute(oldest) == "0.3.0")
    }

    @Test("A run with --finish applies the waiting files to a database that dbmate migrated, too")
    func dbmate() async throws {
        let scene = try scene("DROP TABLE a;")
        try scene.folder.write("0003_create_b.sql", migration(up: "CREATE TABLE b (n int);"))
        try scene.database.execute(
            """
            CREATE TABLE schema_migrations (version character varying(128) PRIMARY KEY);
            CREATE TABLE a (n int);
            CREATE TABLE b (n int);
            INSERT INTO schema_migrations (version) VALUES ('0001'), ('0003');
            """)
        let status = try await scene.withMigrator { try await $0.status() }
        #expect(status.entries.map(\.state) == [.unverified, .waiting, .unverified])
        #expect(try await scene.run(.up(to: nil)) == [])
        #expect(try await scene.run(Self.finish) == ["apply 0002_drop_a"])
        #expect(try scene.versions == "0001,0002,0003")
    }

    @Test(
        "A file for after the roll-out waits for locks briefly, or as long as it sets; other files have no bound",
        arguments: ["", "transaction:false"])
    func lockTimeout(options: String) async throws {
        let note = "CREATE TABLE seen AS SELECT current_setting('lock_timeout') AS value"
        let scene = try scene(note, options: options)
        try scene.folder.write(
            "AfterRollOut/0003_say.sql",
            Self.file(
                "SET LOCAL lock_timeout = '70ms'; INSERT INTO seen VALUES (current_setting('lock_timeout'));")
        )
        try scene.folder.write(
            "AfterRollOut/0004_return.sql",
            Self.file("INSERT INTO seen VALUES (current_setting('lock_timeout'));"))
        try await scene.run(Self.finish)
        try scene.folder.write(
            "0005_go_on.sql", migration(up: "INSERT INTO seen VALUES (current_setting('lock_timeout'));"))
        try await scene.run(.up(to: nil))
        #expect(
            try scene.database.execute("SELECT string_agg(value, ' ' ORDER BY ctid) FROM seen")
                == "500ms 70ms 500ms 0")
    }

    @Test("A file that waits for a reader's lock is tried again, and applied once the reader is done")
    func retried() async throws {
        let scene = try scene("CREATE TABLE made (n int); DROP TABLE a;")
        try await scene.run(.up(to: nil))
        try await scene.holdingGate("LOCK TABLE a IN ACCESS SHARE MODE") { open in
            let recorder = EventRecorder()
            async let run = scene.run(Self.finish, recorder: recorder)
            // The second shows that nothing of the first was left, such as its table.
            await recorder.wait { if case .locked(_, attempt: 2, limit: 30) = $0 { true } else { false } }
            #expect(try scene.versions == "0001")
            #expect(try !scene.hasTable("made"))
            try await open()
            #expect(try await run == ["apply 0002_drop_a"])
        }
        #expect(try scene.versions == "0001,0002")
        #expect(try !scene.hasTable("a"))
    }

    @Test("A file that never gets its lock fails with one line, and the files applied before stay")
    func givesUp() async throws {
        let drop = "SET LOCAL lock_timeout = '10ms'; DROP TABLE a;"
        let scene = try scene(drop)
        try await scene.run(.up(to: nil))
        try scene.folder.write("0003_create_b.sql", migration(up: "CREATE TABLE b (n int);"))
        let recorder = EventRecorder()
        try await scene.holdingGate("LOCK TABLE a IN ACCESS SHARE MODE") { open in
            let error = await #expect(throws: MigrationError.locked(name: "0002_drop_a")) {
                try await scene.withMigrator(recorder: recorder) { migrator in
                    var migrator = migrator
                    migrator.lockAttemptLimit = 2
                    return try await migrator.run(Self.finish)
                }
            }
            #expect(error?.description.contains("\n") == false)
            // Other files are tried once.
            try scene.folder.write("0004_drop_a.sql", migration(up: drop))
            let refusal = MigrationError.statementFailed(
                name: "0004_drop_a", line: nil, message: "canceling statement due to lock timeout")
            await #expect(throws: refusal) { try await scene.run(.up(to: nil)) }
            try await open()
        }
        #expect(
            recorder.events.map(\.description) == [
                "apply 0003_create_b", "apply 0003_create_b: done", "apply 0002_drop_a",
                "apply 0002_drop_a: others hold its locks, attempt 1 of 2",
            ])
        #expect(try scene.versions == "0001,0003")
        #expect(try scene.hasTable("a"))
    }
}

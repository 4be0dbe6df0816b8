import EventLoop
import Migrator
import Testing

@Suite("A run of migrations")
struct MigratorTests {
    private func scene() throws -> Scene {
        try Scene([
            "0001_create_a.sql": migration(up: "CREATE TABLE a (n int);", down: "DROP TABLE a;"),
            "Seeds/0002_fill_a.sql": migration(up: "INSERT INTO a VALUES (1), (2);", down: "DELETE FROM a;"),
            "0003_create_b.sql": migration(up: "CREATE TABLE b (n int);", down: "DROP TABLE b;"),
        ])
    }

    @Test("Up applies the files in order and records each; a second run has nothing to do")
    func up() async throws {
        let scene = try scene()
        let recorder = EventRecorder()
        #expect(try await scene.run(.up) == ["apply 0001_create_a", "apply 0003_create_b"])
        #expect(try await scene.run(.up, recorder: recorder) == [])
        #expect(recorder.events == [.nothingToDo])
        #expect(try scene.versions == "0001,0003")
        let complete = "SELECT bool_and(length(checksum) = 64 AND applied_at <= now()) FROM schema_migrations"
        #expect(try scene.database.execute(complete) == "t")
    }

    @Test("Seeds are applied when they are asked for, also later, and are known afterwards")
    func seeds() async throws {
        let scene = try scene()
        try await scene.run(.up)
        #expect(try await scene.run(.up, seeds: true) == ["apply 0002_fill_a"])
        #expect(try scene.database.execute("SELECT count(*) FROM a") == "2")
        let status = try await scene.withMigrator { try await $0.status() }
        #expect(status.entries.map(\.state) == [.applied, .applied, .applied])
        try await scene.withMigrator { try await $0.validate() }
    }

    @Test("Down undoes the last file, each time one more, and up applies them again")
    func down() async throws {
        let scene = try scene()
        try await scene.run(.up, seeds: true)
        #expect(try await scene.run(.down) == ["undo 0003_create_b"])
        #expect(try scene.versions == "0001,0002")
        #expect(try !scene.hasTable("b"))
        #expect(try await scene.run(.down) == ["undo 0002_fill_a"])
        #expect(try await scene.run(.down) == ["undo 0001_create_a"])
        #expect(try await scene.run(.down) == [])
        #expect(try !scene.hasTable("a"))
        #expect(try await scene.run(.up) == ["apply 0001_create_a", "apply 0003_create_b"])
        #expect(try scene.versions == "0001,0003")
    }

    @Test("A plan says what a run would do, and changes nothing, not even the migrator's own table")
    func plan() async throws {
        let scene = try scene()
        let plan = try await scene.withMigrator { try await $0.plan(.up) }
        #expect(plan.steps.map(\.description) == ["apply 0001_create_a", "apply 0003_create_b"])
        #expect(try !scene.hasTable("schema_migrations"))
        #expect(try !scene.hasTable("a"))
    }

    @Test("A file that was edited after it had been applied stops every command, and nothing changes")
    func edited() async throws {
        let scene = try scene()
        try await scene.run(.up)
        try scene.folder.write("0001_create_a.sql", migration(up: "CREATE TABLE a (n bigint);"))
        for command in [MigrationPlan.Command.up, .down] {
            await #expect(throws: MigrationError.editedFile(name: "0001_create_a")) {
                try await scene.run(command)
            }
        }
        await #expect(throws: MigrationError.editedFile(name: "0001_create_a")) {
            try await scene.withMigrator { try await $0.validate() }
        }
        #expect(try scene.versions == "0001,0003")
    }

    @Test("An applied version without a file stops every command, and nothing changes")
    func missing() async throws {
        let scene = try scene()
        try await scene.run(.up)
        try scene.folder.remove("0001_create_a.sql")
        try scene.folder.write("0004_create_d.sql", migration(up: "CREATE TABLE d ();"))
        await #expect(throws: MigrationError.missingFiles(versions: ["0001"])) {
            try await scene.run(.up)
        }
        #expect(try scene.versions == "0001,0003")
        #expect(try !scene.hasTable("d"))
    }

    @Test("A file that fails half-way is undone whole, the earlier ones stay, and the error has its line")
    func failure() async throws {
        let scene = try scene()
        try scene.folder.write(
            "0004_break.sql", migration(up: "CREATE TABLE half ();\n-- ü€\nSELECT 1 / 0;\nSELECT nonsense;"))
        await #expect(
            throws: MigrationError.statementFailed(name: "0004_break", line: nil, message: "division by zero")
        ) { try await scene.run(.up) }
        #expect(try scene.versions == "0001,0003")
        #expect(try !scene.hasTable("half"))

        try scene.folder.write(
            "0004_break.sql", migration(up: "CREATE TABLE half ();\n-- ü€\nSELECT nonsense;"))
        let message = #"column "nonsense" does not exist"#
        await #expect(throws: MigrationError.statementFailed(name: "0004_break", line: 4, message: message)) {
            try await scene.run(.up)
        }
        try scene.folder.write("0004_break.sql", migration(up: "CREATE TABLE half ();"))
        #expect(try await scene.run(.up) == ["apply 0004_break"])
    }

    @Test("A file whose constraint fails only at the commit is undone, and the error names the file")
    func failureAtCommit() async throws {
        let scene = try scene()
        let up = """
            CREATE TABLE c (n int UNIQUE DEFERRABLE INITIALLY DEFERRED);
            INSERT INTO c VALUES (1), (1);
            """
        try scene.folder.write("0004_create_c.sql", migration(up: up))
        let error = await #expect(throws: MigrationError.self) { try await scene.run(.up) }
        #expect(error?.description.hasPrefix("0004_create_c: duplicate key value") == true)
        #expect(try scene.versions == "0001,0003")
        #expect(try !scene.hasTable("c"))
    }

    @Test("A file whose record cannot be written is undone: both or neither")
    func failureOfRecord() async throws {
        let scene = try scene()
        let up = "CREATE TABLE c (n int); INSERT INTO schema_migrations VALUES ('0004', '', '');"
        try scene.folder.write("0004_create_c.sql", migration(up: up))
        let error = await #expect(throws: MigrationError.self) { try await scene.run(.up) }
        #expect(error?.description.hasPrefix("0004_create_c: duplicate key value") == true)
        #expect(try scene.versions == "0001,0003")
        #expect(try !scene.hasTable("c"))
    }

    @Test(
        "A file that ends its transaction itself is an error that says so, and isn't recorded",
        arguments: ["COMMIT", "ROLLBACK", "COMMIT AND CHAIN", "COMMIT; BEGIN", "PREPARE TRANSACTION 'a'"])
    func endedTransaction(statement: String) async throws {
        let scene = try scene()
        try scene.folder.write("0004_create_c.sql", migration(up: "CREATE TABLE c ();\n\(statement);"))
        let error = await #expect(throws: MigrationError.self) { try await scene.run(.up) }
        #expect(error?.description.hasPrefix("0004_create_c") == true)
        #expect(try scene.versions == "0001,0003")
    }

    @Test(
        "What only looks like the end of a transaction is done and recorded",
        arguments: [
            "SAVEPOINT s; ROLLBACK TO SAVEPOINT s; RELEASE s", "DO $$ BEGIN NULL; END $$", "SELECT 'COMMIT'",
            "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END",
        ])
    func harmless(statement: String) async throws {
        let scene = try scene()
        try scene.folder.write("0004_do.sql", migration(up: "\(statement);"))
        #expect(try await scene.run(.up).last == "apply 0004_do")
    }

    @Test("Several statements under transaction:false are refused, and none is done")
    func severalWithoutTransaction() async throws {
        let scene = try scene()
        let up = "CREATE TABLE c (n int);\nCREATE INDEX CONCURRENTLY c_n ON c (n);"
        try scene.folder.write("0004_create_c.sql", migration(up: up, options: "transaction:false"))
        let message = "cannot insert multiple commands into a prepared statement"
        await #expect(
            throws: MigrationError.statementFailed(name: "0004_create_c", line: nil, message: message)
        ) { try await scene.run(.up) }
        #expect(try !scene.hasTable("c"))
    }

    @Test("A transaction:false file that fails is not written down")
    func failureWithoutTransaction() async throws {
        let scene = try scene()
        let up = "CREATE INDEX CONCURRENTLY no_index ON no_table (n);"
        try scene.folder.write("0004_index.sql", migration(up: up, options: "transaction:false"))
        await #expect(throws: MigrationError.self) { try await scene.run(.up) }
        #expect(try scene.versions == "0001,0003")
    }

    @Test("Settings that a file makes in its session affect neither its record nor the next file")
    func sessionSettings() async throws {
        let scene = try scene()
        try scene.database.execute(
            "DO $$ BEGIN CREATE ROLE nobody_special; EXCEPTION WHEN duplicate_object THEN END $$")
        let up = "SET search_path = pg_catalog; SET ROLE nobody_special; SET client_min_messages = error;"
        try scene.folder.write("0004_set.sql", migration(up: up))
        try scene.folder.write("0005_create_d.sql", migration(up: "CREATE TABLE d ();"))
        try await scene.run(.up)
        #expect(try scene.versions == "0001,0003,0004,0005")
        #expect(try scene.hasTable("public.d"))
    }

    @Test("Notices of a file are events")
    func notices() async throws {
        let scene = try scene()
        try scene.folder.write("0004_tell.sql", migration(up: "DO $$ BEGIN RAISE NOTICE 'hello'; END $$;"))
        let recorder = EventRecorder()
        try await scene.run(.up, recorder: recorder)
        #expect(recorder.events.contains(.notice("hello")))
    }

    @Test("A newer schema is said, and left as it is")
    func newer() async throws {
        let scene = try scene()
        try await scene.run(.up)
        try scene.database.execute(
            "INSERT INTO schema_migrations VALUES ('0004', '0004_create_d', ''), ('0005', '0005_create_e', '')"
        )
        let recorder = EventRecorder()
        #expect(try await scene.run(.up, recorder: recorder) == [])
        #expect(
            recorder.events.map(\.description) == [
                "the schema is newer than this program: 0004_create_d, 0005_create_e", "nothing to do",
            ])
    }

    @Test("A database that cannot be reached is a database error, not a crash")
    func unreachable() async throws {
        let scene = try scene()
        try scene.database.drop()
        let error = await #expect(throws: MigrationError.self) { try await scene.run(.up) }
        #expect(error?.description.contains("does not exist") == true)
    }
}

/// Runs that meet. The first waits inside its first file for a gate that the test opens when it has seen enough.
@Suite("Runs at the same time", .timeLimit(.minutes(2)))
struct ConcurrentRunsTests {
    private let gated = migration(up: "SELECT pg_advisory_xact_lock(42); CREATE TABLE a (n int);")

    /// Starts two runs, opens the gate once the second waits for the first, and returns the steps of both.
    private func runTwice(_ scene: Scene) async throws -> (first: [String], second: [String]) {
        try await scene.holdingGate { open in
            let firstRecorder = EventRecorder()
            let secondRecorder = EventRecorder()
            async let first = scene.run(.up, recorder: firstRecorder)
            await firstRecorder.wait { if case .started = $0 { true } else { false } }
            async let second = scene.run(.up, recorder: secondRecorder)
            await secondRecorder.wait { $0 == .waitingForLock }
            try await open()
            return try await (first, second)
        }
    }

    @Test("A second run waits for the first, and nothing is applied twice")
    func twoRuns() async throws {
        let scene = try Scene(["0001_create_a.sql": gated])
        let steps = try await runTwice(scene)
        #expect(steps.first == ["apply 0001_create_a"])
        #expect(steps.second == [])
        #expect(try scene.versions == "0001")
    }

    @Test("CREATE INDEX CONCURRENTLY goes through while another run waits")
    func concurrentIndex() async throws {
        let index = "CREATE INDEX CONCURRENTLY IF NOT EXISTS a_n ON a (n);"
        let scene = try Scene([
            "0001_create_a.sql": gated,
            "0002_index_a.sql": migration(up: index, options: "transaction:false"),
        ])
        let steps = try await runTwice(scene)
        #expect(steps.first == ["apply 0001_create_a", "apply 0002_index_a"])
        #expect(steps.second == [])
        #expect(
            try scene.database.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = 'a_n'::regclass")
                == "t")
    }

    @Test("A run that may not wait gives up with an error and changes nothing")
    func boundedWait() async throws {
        let scene = try Scene(["0001_create_a.sql": gated])
        try await scene.holdingGate { open in
            let recorder = EventRecorder()
            async let first = scene.run(.up, recorder: recorder)
            await recorder.wait { if case .started = $0 { true } else { false } }
            await #expect(throws: MigrationError.lockTimedOut(.zero)) {
                try await scene.withMigrator(lockWaitLimit: .zero) { try await $0.run(.up) }
            }
            try await open()
            #expect(try await first == ["apply 0001_create_a"])
        }
    }
}

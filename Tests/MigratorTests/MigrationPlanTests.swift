import Testing

@testable import Migrator

@Suite("A plan")
struct MigrationPlanTests {
    /// 1 and 3 are the schema's, 2 is a seed.
    private let directory: MigrationDirectory
    private let irreversible: MigrationFile

    init() throws {
        func file(_ name: String, _ kind: MigrationFile.Kind, down: String = "SELECT 2;") throws
            -> MigrationFile
        {
            let text = migration(up: "SELECT '\(name)';", down: down)
            return try MigrationFile(fileName: "\(name).sql", kind: kind, bytes: Array(text.utf8))
        }
        directory = try MigrationDirectory(files: [
            file("0001_a", .schema), file("0002_b", .seed), file("0003_c", .schema),
        ])
        irreversible = try file("0004_d", .schema, down: "-- no way back")
    }

    private func applied(_ versions: String...) -> [AppliedMigration] {
        versions.map { version in
            AppliedMigration(
                version: version, checksum: directory.files.first { $0.version == version }?.checksum)
        }
    }

    private func steps(
        _ command: MigrationPlan.Command, _ applied: [AppliedMigration], seeds: Bool = false
    ) throws -> [String] {
        try MigrationPlan(command, directory: directory, applied: applied, includesSeeds: seeds).steps
            .map(\.description)
    }

    @Test("Up applies pending files, and seeds only if it is asked for them")
    func up() throws {
        #expect(try steps(.up(to: nil), []) == ["apply 0001_a", "apply 0003_c"])
        #expect(try steps(.up(to: nil), [], seeds: true) == ["apply 0001_a", "apply 0002_b", "apply 0003_c"])
        #expect(try steps(.up(to: nil), applied("0001")) == ["apply 0003_c"])
        #expect(try steps(.up(to: nil), applied("0001", "0003")) == [])
    }

    @Test("Up applies a seed that it is asked for after later files were applied")
    func lateSeed() throws {
        #expect(try steps(.up(to: nil), applied("0001", "0003"), seeds: true) == ["apply 0002_b"])
    }

    @Test("An applied seed is known though seeds aren't asked for now")
    func appliedSeed() throws {
        #expect(try steps(.up(to: nil), applied("0001", "0002")) == ["apply 0003_c"])
        #expect(try steps(.down(to: nil), applied("0001", "0002")) == ["undo 0002_b"])
    }

    @Test("Up to a version applies the files up to it; the version may lack its leading zeros")
    func upTo() throws {
        #expect(try steps(.up(to: "0001"), []) == ["apply 0001_a"])
        #expect(try steps(.up(to: "2"), [], seeds: true) == ["apply 0001_a", "apply 0002_b"])
        #expect(try steps(.up(to: "1"), applied("0001", "0003")) == [])
    }

    @Test("Down undoes the last file; down to a version undoes all above it; down to 0 undoes all")
    func down() throws {
        let all = applied("0001", "0002", "0003")
        #expect(try steps(.down(to: nil), all) == ["undo 0003_c"])
        #expect(try steps(.down(to: "0001"), all) == ["undo 0003_c", "undo 0002_b"])
        #expect(try steps(.down(to: "0"), all) == ["undo 0003_c", "undo 0002_b", "undo 0001_a"])
        #expect(try steps(.down(to: nil), []) == [])
    }

    @Test(
        "A version that no file has is no target",
        arguments: [MigrationPlan.Command.up(to: "7"), .down(to: "x")])
    func unknownTarget(command: MigrationPlan.Command) {
        #expect(throws: MigrationError.self) { try steps(command, []) }
    }

    @Test("An edited file is refused by every command")
    func edited() {
        let rows = [AppliedMigration(version: "0001", checksum: "other")]
        for command in [MigrationPlan.Command.up(to: nil), .down(to: nil)] {
            #expect(throws: MigrationError.editedFile(name: "0001_a")) { try steps(command, rows) }
        }
    }

    @Test("Applied versions without a file are refused, all named")
    func missing() {
        #expect(throws: MigrationError.missingFiles(versions: ["0000", "0009"])) {
            try steps(.up(to: nil), applied("0001", "0009", "0000"))
        }
    }

    /// What is done about a database that has all three files, and others of newer releases.
    private func plan(
        _ command: MigrationPlan.Command = .up(to: nil), newer: (version: String, oldest: String?)...,
        program: String? = "1.2.0"
    ) throws -> MigrationPlan {
        let rows = newer.map { AppliedMigration(version: $0.version, oldestProgram: $0.oldest) }
        return try MigrationPlan(
            command, directory: directory, applied: applied("0001", "0002", "0003") + rows,
            includesSeeds: false, program: program.flatMap { ProgramVersion($0) })
    }

    @Test(
        "A newer schema that says that this program can use it is accepted, and no step is planned")
    func newer() throws {
        let plan = try plan(newer: ("0005", "1.2.0"), ("0004", "0.9.0"))
        #expect(plan.steps == [])
        #expect(plan.newer.map(\.version) == ["0004", "0005"])
    }

    @Test("A newer schema is refused where one of its migrations asks for a newer program, or says nothing")
    func beyond() {
        for oldest in ["1.2.1", "1.10.0", "2.0.0", "soon", "", nil] as [String?] {
            #expect(throws: MigrationError.missingFiles(versions: ["0005"]), "\(oldest ?? "nil")") {
                try plan(newer: ("0004", "1.2.0"), ("0005", oldest))
            }
        }
        #expect(throws: MigrationError.missingFiles(versions: ["0004"])) {
            try plan(newer: ("0004", "0.1.0"), program: nil)
        }
    }

    @Test("A missing file below the last known one is an error, even if its row allows this program")
    func gap() {
        #expect(throws: MigrationError.missingFiles(versions: ["0000"])) {
            try plan(newer: ("0000", "0.1.0"))
        }
    }

    @Test("Down is refused while a newer migration without a file is applied")
    func downBelowNewer() {
        #expect(throws: MigrationError.missingFiles(versions: ["0004"])) {
            try plan(.down(to: nil), newer: ("0004", "0.1.0"))
        }
    }

    @Test("A running program is too old only for newer migrations that say so")
    func migrationsBeyond() throws {
        let rows = [
            AppliedMigration(version: "0003", oldestProgram: "9.0.0"),
            AppliedMigration(version: "0004", oldestProgram: "1.2.0"), AppliedMigration(version: "0005"),
            AppliedMigration(version: "0006", name: "0006_drop_a", oldestProgram: "1.3.0"),
        ]
        let program = try #require(ProgramVersion("1.2.0"))
        #expect(directory.migrationsBeyond(program, applied: rows).map(\.shownName) == ["0006_drop_a"])
    }

    @Test("A schema file that is numbered below an applied one is refused")
    func outOfOrder() {
        #expect(throws: MigrationError.outOfOrder(name: "0001_a", highestApplied: "0003")) {
            try steps(.up(to: nil), applied("0003"))
        }
    }

    @Test("A row without a checksum, as dbmate writes it, is accepted unverified")
    func unverified() throws {
        #expect(try steps(.up(to: nil), [AppliedMigration(version: "0001")]) == ["apply 0003_c"])
    }

    @Test("Down is refused as a whole if one of its files can't be undone")
    func oneWay() throws {
        let directory = try MigrationDirectory(files: directory.files + [irreversible])
        let rows = directory.files.map { AppliedMigration(version: $0.version, checksum: $0.checksum) }
        #expect(throws: MigrationError.irreversible(name: "0004_d")) {
            try MigrationPlan(.down(to: "0"), directory: directory, applied: rows, includesSeeds: false)
        }
    }

    @Test("The status shows each file with its state on a line, and a summary")
    func statusText() {
        let rows = [
            AppliedMigration(version: "0001", checksum: "other", appliedAt: "2026-01-02"),
            AppliedMigration(version: "0009"),
        ]
        #expect(
            MigrationStatus(directory: directory, applied: rows).description == """
                edited      0001_a  2026-01-02
                optional    0002_b (seed)
                late        0003_c
                missing     0009
                2 applied, 1 seeds not applied, 1 late, 1 edited, 1 missing
                """)
    }
}

/// Databases that were made by files which the present ones replace.
@Suite("A database of replaced files")
struct ReplacedFilesTests {
    private static let draft = "0001"..."0017"
    private static let refusal = MigrationError.replacedFiles(
        versions: ["0001", "0003"], by: "0101_create_b")

    /// How such a database came to be: `poi` keeps a checksum, dbmate doesn't.
    private static let origins = [
        "poi": """
        CREATE TABLE schema_migrations (version varchar PRIMARY KEY, name text, checksum text,
            applied_at timestamptz DEFAULT now(), oldest_program text);
        INSERT INTO schema_migrations (version, name, checksum)
        VALUES ('0001', '0001_create_a', repeat('0', 64)), ('0003', '0003_fill_a', repeat('1', 64));
        """,
        "dbmate": """
        CREATE TABLE schema_migrations (version character varying(128) PRIMARY KEY);
        INSERT INTO schema_migrations (version) VALUES ('0001'), ('0003');
        """,
    ]

    private func scene(_ origin: String) throws -> Scene {
        let scene = try Scene(
            ["0101_create_b.sql": migration(up: "CREATE TABLE b (n int);", down: "DROP TABLE b;")],
            replacing: Self.draft)
        try scene.database.execute(Self.origins[origin, default: ""])
        try scene.database.execute("CREATE TABLE a (n int); INSERT INTO a VALUES (1), (2)")
        return scene
    }

    @Test(
        "A database of replaced files is refused by every command, and loses nothing",
        arguments: ["poi", "dbmate"])
    func refused(origin: String) async throws {
        let scene = try scene(origin)
        let before = try content(of: scene)
        for command in [MigrationPlan.Command.up(to: nil), .up(to: "101"), .down(to: nil), .down(to: "0")] {
            for isDryRun in [true, false] {
                await #expect(throws: Self.refusal) {
                    try await scene.run(command, seeds: true, isDryRun: isDryRun, program: "0.1.0")
                }
            }
        }
        await #expect(throws: Self.refusal) {
            try await scene.withMigrator { try await $0.validate() }
        }
        #expect(try content(of: scene) == before)
    }

    /// All columns of all tables, and the rows.
    private func content(of scene: Scene) throws -> String {
        try scene.database.execute(
            """
            SELECT table_name, column_name, data_type, column_default FROM information_schema.columns
                WHERE table_schema = 'public' ORDER BY 1, 2;
            SELECT m::text FROM schema_migrations AS m ORDER BY version;
            SELECT n FROM a ORDER BY n
            """)
    }

    @Test(
        "The status shows the replaced files of a database, and says what to do",
        arguments: ["poi", "dbmate"])
    func status(origin: String) async throws {
        let status = try await scene(origin).withMigrator { try await $0.status() }
        #expect(status.entries.map(\.state) == [.replaced, .replaced, .pending])
        let lines = status.description.split(separator: "\n")
        #expect(lines.first?.hasPrefix("replaced    0001") == true)
        #expect(lines.dropLast().last == "2 applied, 1 pending, 2 replaced by newer files")
        #expect(lines.last.map(String.init) == Self.refusal.description)
        #expect(Self.refusal.description.contains("Documentation/migrations.md"))
    }

    @Test("Versions count as replaced only if they have no file and are below the files that replace them")
    func others() async throws {
        let scene = try scene("dbmate")
        try scene.folder.write("0001_create_a.sql", migration(up: "CREATE TABLE a (n int);"))
        try scene.folder.write("0003_fill_a.sql", migration(up: "INSERT INTO a VALUES (1);"))
        #expect(try await scene.run(.up(to: nil)) == ["apply 0101_create_b"])

        let newer = try self.scene("none")
        try await newer.run(.up(to: nil))
        try newer.database.execute("INSERT INTO schema_migrations VALUES ('0018'), ('0102')")
        await #expect(throws: MigrationError.missingFiles(versions: ["0018", "0102"])) {
            try await newer.run(.up(to: nil))
        }
    }
}

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
                version: version, checksum: directory.files.first { $0.version == version }?.checksum ?? "")
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
        #expect(try steps(.up, []) == ["apply 0001_a", "apply 0003_c"])
        #expect(try steps(.up, [], seeds: true) == ["apply 0001_a", "apply 0002_b", "apply 0003_c"])
        #expect(try steps(.up, applied("0001")) == ["apply 0003_c"])
        #expect(try steps(.up, applied("0001", "0003")) == [])
    }

    @Test("Up applies a seed that it is asked for after later files were applied")
    func lateSeed() throws {
        #expect(try steps(.up, applied("0001", "0003"), seeds: true) == ["apply 0002_b"])
    }

    @Test("An applied seed is known though seeds aren't asked for now")
    func appliedSeed() throws {
        #expect(try steps(.up, applied("0001", "0002")) == ["apply 0003_c"])
        #expect(try steps(.down, applied("0001", "0002")) == ["undo 0002_b"])
    }

    @Test("Down undoes the last file")
    func down() throws {
        #expect(try steps(.down, applied("0001", "0002", "0003")) == ["undo 0003_c"])
        #expect(try steps(.down, []) == [])
    }

    @Test("An edited file is refused by every command")
    func edited() {
        let rows = [AppliedMigration(version: "0001", checksum: "other")]
        for command in [MigrationPlan.Command.up, .down] {
            #expect(throws: MigrationError.editedFile(name: "0001_a")) { try steps(command, rows) }
        }
    }

    @Test("An applied version without a file is refused, unless it is newer than all files")
    func missing() throws {
        let directory = try MigrationDirectory(
            files: directory.files.filter { $0.version != "0002" } + [irreversible])
        #expect(throws: MigrationError.missingFiles(versions: ["0002"])) {
            try MigrationPlan(
                .up, directory: directory, applied: applied("0001", "0002", "0003"),
                includesSeeds: false)
        }
    }

    @Test(
        "A newer schema is accepted, and no step is planned; down is refused, since only a newer release knows how"
    )
    func newer() throws {
        let rows = applied("0001", "0002", "0003", "0005", "0004")
        let plan = try MigrationPlan(
            .up, directory: directory, applied: rows, includesSeeds: false)
        #expect(plan.steps == [])
        #expect(plan.newer.map(\.version) == ["0004", "0005"])
        #expect(throws: MigrationError.missingFiles(versions: ["0004", "0005"])) {
            try steps(.down, rows)
        }
    }

    @Test("A schema file that is numbered below an applied one is refused")
    func outOfOrder() {
        #expect(throws: MigrationError.outOfOrder(name: "0001_a", highestApplied: "0003")) {
            try steps(.up, applied("0003"))
        }
    }

    @Test("Down is refused where the last file can't be undone")
    func oneWay() throws {
        let directory = try MigrationDirectory(files: directory.files + [irreversible])
        let rows = directory.files.map { AppliedMigration(version: $0.version, checksum: $0.checksum) }
        #expect(throws: MigrationError.irreversible(name: "0004_d")) {
            try MigrationPlan(.down, directory: directory, applied: rows, includesSeeds: false)
        }
    }

    @Test("The status shows each file with its state on a line, and a summary")
    func statusText() {
        let rows = [
            AppliedMigration(version: "0001", checksum: "other", appliedAt: "2026-01-02"),
            AppliedMigration(version: "0009", name: "0009_later", checksum: "any", appliedAt: "2026-01-03"),
        ]
        #expect(
            MigrationStatus(directory: directory, applied: rows).description == """
                edited      0001_a  2026-01-02
                optional    0002_b (seed)
                late        0003_c
                newer       0009_later  2026-01-03
                2 applied, 1 seeds not applied, 1 late, 1 edited, 1 newer
                """)
    }
}

/// Databases that a version made which was never released.
@Suite("A database of a version that was never released")
struct ReplacedFilesTests {
    private static let refusal = MigrationError.replacedFiles(versions: ["0101", "0103"])

    @Test("It is refused in one line by every command, and loses nothing")
    func refused() async throws {
        let scene = try Scene([
            "0201_create_b.sql": migration(up: "CREATE TABLE b (n int);", down: "DROP TABLE b;")
        ])
        try scene.database.execute(
            """
            CREATE TABLE schema_migrations (version varchar PRIMARY KEY, name text, checksum text,
                applied_at timestamptz DEFAULT now(), oldest_program text);
            INSERT INTO schema_migrations (version, name, checksum)
            VALUES ('0101', '0101_create_a', repeat('0', 64)), ('0103', '0103_fill_a', repeat('1', 64));
            CREATE TABLE a (n int);
            INSERT INTO a VALUES (1), (2)
            """)
        let before = try content(of: scene)
        for command in [MigrationPlan.Command.up, .down] {
            await #expect(throws: Self.refusal) { try await scene.run(command, seeds: true) }
        }
        let status = try await scene.withMigrator { migrator in
            await #expect(throws: Self.refusal) { try await migrator.validate() }
            return try await migrator.status()
        }
        #expect(try content(of: scene) == before)
        #expect(status.entries.map(\.state) == [.replaced, .replaced, .pending])
        let lines = status.description.split(separator: "\n")
        #expect(lines.first?.hasPrefix("replaced    0101") == true)
        #expect(lines.dropLast().last == "2 applied, 1 pending, 2 of a version that was never released")
        #expect(lines.last.map(String.init) == Self.refusal.description)
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
}

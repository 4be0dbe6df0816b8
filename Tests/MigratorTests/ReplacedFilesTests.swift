import Migrator
import Testing

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

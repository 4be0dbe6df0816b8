import Foundation
import Migrator
import Testing

@Suite("A folder of migrations")
struct MigrationDirectoryTests {
    private let sql = migration(up: "SELECT 1;")

    @Test("The schema and the seeds are one sequence, and other files don't matter")
    func sequence() throws {
        let folder = try MigrationFolder([
            "0003_c.sql": sql, "0001_a.sql": sql, "Seeds/0002_b.sql": sql, "README.md": "x",
            ".0009_hidden.sql": "x",
        ])
        let files = try folder.directory().files
        #expect(files.map(\.name) == ["0001_a", "0002_b", "0003_c"])
        #expect(files.map(\.kind) == [.schema, .seed, .schema])
    }

    @Test("A seed with the number of a schema file is refused")
    func duplicates() throws {
        let folder = try MigrationFolder(["0001_a.sql": sql, "Seeds/0001_b.sql": sql])
        #expect(throws: MigrationError.duplicateVersion("0001_a", "0001_b")) { try folder.directory() }
    }

    @Test("Numbers of unequal length are refused: dbmate would sort them as text")
    func unequalLengths() throws {
        let folder = try MigrationFolder(["09_a.sql": sql, "100_b.sql": sql])
        #expect(throws: MigrationError.unequalVersionLengths("09_a", "100_b")) { try folder.directory() }
    }

    @Test("A folder that isn't there is an error")
    func missing() {
        #expect(throws: MigrationError.unreadableFolder("/nowhere/at/all")) {
            try MigrationDirectory(path: "/nowhere/at/all")
        }
    }

    @Test("A new file has the next number, a clean name and the format's two markers")
    func newFile() throws {
        let folder = try MigrationFolder()
        let first = try MigrationDirectory.makeFile(title: "Create places!", path: folder.path)
        #expect(first == "\(folder.path)/0001_create_places.sql")
        try folder.write("0001_create_places.sql", sql)
        let second = try MigrationDirectory.makeFile(title: "insert rows", path: folder.path, kind: .seed)
        #expect(second == "\(folder.path)/Seeds/0002_insert_rows.sql")
        let text = try String(contentsOfFile: second, encoding: .utf8)
        #expect(text == "-- migrate:up\n\n\n-- migrate:down\n\n")
    }

    @Test("A title without a letter or digit makes no file")
    func unusableTitle() throws {
        let folder = try MigrationFolder()
        #expect(throws: MigrationError.unusableName("…/!")) {
            try MigrationDirectory.makeFile(title: "…/!", path: folder.path)
        }
    }

    @Test("Readiness asks for every schema version, and accepts newer ones and absent seeds")
    func readiness() throws {
        let folder = try MigrationFolder([
            "0001_a.sql": sql, "Seeds/0002_b.sql": sql, "0003_c.sql": sql,
        ])
        let directory = try folder.directory()
        #expect(directory.missingSchemaVersions(applied: ["0001", "0003", "0005"]) == [])
        #expect(directory.missingSchemaVersions(applied: ["0001", "0002"]) == ["0003"])
    }
}

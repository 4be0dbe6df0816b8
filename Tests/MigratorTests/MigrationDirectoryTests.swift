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

    @Test("A folder that isn't there is an error")
    func missing() {
        #expect(throws: MigrationError.unreadableFolder("/nowhere/at/all")) {
            try MigrationDirectory(path: "/nowhere/at/all")
        }
    }

    @Test("Readiness asks for every schema version, and accepts newer ones and absent seeds")
    func readiness() throws {
        let folder = try MigrationFolder([
            "0001_a.sql": sql, "Seeds/0002_b.sql": sql, "0003_c.sql": sql,
        ])
        let directory = try folder.directory()
        let checksum = try #require(directory.files.first).checksum
        let rows = ["0001", "0002", "0003", "0005"].map { AppliedMigration(version: $0, checksum: checksum) }
        #expect(directory.missingSchemaVersions(applied: [rows[0], rows[2], rows[3]]) == [])
        #expect(directory.missingSchemaVersions(applied: [rows[0], rows[1]]) == ["0003"])
        let foreign = AppliedMigration(version: "0001", checksum: "another")
        #expect(
            directory.missingSchemaVersions(applied: [foreign, rows[2]])
                == ["0001 (another file of that number is)"])
    }
}

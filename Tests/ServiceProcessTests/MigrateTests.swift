import Foundation
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("poi migrate", .timeLimit(.minutes(2)))
struct MigrateTests {
    private static let schema = names(in: "")
    private static let seeds = names(in: "/Seeds")
    /// The numbers of all are one sequence.
    private static let all = (schema + seeds).sorted()
    private static let versions = all.map { String($0.prefix(4)) }

    private static func names(in folder: String) -> [String] {
        let files = try? FileManager.default.contentsOfDirectory(atPath: PoiProgram.migrations.path + folder)
        return (files ?? []).filter { $0.hasSuffix(".sql") }.map { String($0.dropLast(4)) }.sorted()
    }

    /// Runs `poi migrate` on a database, which has to succeed.
    private func migrate(_ arguments: String..., on database: TestDatabase) async throws -> [String] {
        let result = try await PoiProgram.run(
            ["migrate"] + arguments, environment: ["DATABASE_URL": database.connectionString])
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.standardError == [])
        return result.standardOutput
    }

    /// What the files' names are with what was done to them.
    private func done(_ verb: String, _ names: [String]) -> [String] {
        names.flatMap { ["\(verb) \($0)", "\(verb) \($0): done"] }
    }

    private func appliedVersions(in database: TestDatabase) async throws -> [String] {
        try await DatabaseSession(database.connectionString)
            .run("SELECT version FROM schema_migrations ORDER BY version")
    }

    @Test("A database can be migrated up, with the seeds, and down again")
    func upAndDown() async throws {
        let database = try await ServiceDatabase.empty()
        #expect(try await migrate("up", on: database) == done("apply", Self.schema))
        #expect(try await migrate("up", on: database) == ["nothing to do"])
        #expect(try await migrate("up", "--seeds", on: database) == done("apply", Self.seeds))
        #expect(try await appliedVersions(in: database) == Self.versions)
        _ = try await migrate("validate", on: database)
        for name in Self.all.suffix(2).reversed() {
            #expect(try await migrate("down", "--yes", on: database) == done("undo", [name]))
        }
        #expect(try await appliedVersions(in: database) == Self.versions.dropLast(2))
    }

    @Test("Down without --yes says what would be lost, ends with exit code 64, and changes nothing")
    func downUnconfirmed() async throws {
        let database = try await ServiceDatabase.migrated()
        let result = try await PoiProgram.run(
            ["migrate", "down"], environment: ["DATABASE_URL": database.connectionString])
        #expect(result.exitCode == 64)
        #expect(result.standardOutput == [])
        #expect(
            result.standardError == [
                "poi: migrate down would undo \(Self.all[Self.all.count - 1]) and drop what was made by it, "
                    + "with all data in it; confirm with --yes"
            ])
        #expect(try await appliedVersions(in: database) == Self.versions)
        let empty = try await ServiceDatabase.empty()
        #expect(try await migrate("down", on: empty) == ["nothing to do"])
    }

    @Test("A dry run, which other commands have, is refused with what to ask instead, and changes nothing")
    func dryRun() async throws {
        let database = try await ServiceDatabase.empty()
        let result = try await PoiProgram.run(
            ["migrate", "up", "--dry-run"], environment: ["DATABASE_URL": database.connectionString])
        #expect(result.exitCode == 64)
        #expect(
            result.standardError == [
                "poi: migrate has no --dry-run: poi migrate status shows what is pending"
            ])
        let tables = try await DatabaseSession(database.connectionString)
            .run("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        #expect(tables == ["0"])
    }

    @Test("The status lists every migration with its state")
    func status() async throws {
        let database = try await ServiceDatabase.empty()
        _ = try await migrate("up", on: database)
        _ = try await migrate("down", "--yes", on: database)
        let words = try await migrate("status", on: database).map {
            $0.split(separator: " ").prefix(2).map(String.init)
        }
        let expected = Self.all.map { name in
            if Self.seeds.contains(name) { return ["optional", name] }
            return [name == Self.schema.last ? "pending" : "applied", name]
        }
        #expect(words.dropLast() == expected[...])
    }

    @Test("Two runs at the same time both succeed, and nothing is applied twice")
    func concurrentRuns() async throws {
        let database = try await ServiceDatabase.empty()
        async let first = migrate("up", "--seeds", on: database)
        async let second = migrate("up", "--seeds", on: database)
        let lines = try await first + second
        let finished = lines.filter { $0.hasSuffix(": done") }
        #expect(finished == Self.all.map { "apply \($0): done" })
        #expect(lines.contains("nothing to do"))
    }

    @Test(
        "A folder without the program's migrations, or with others in their place, is a bad setting of every command",
        arguments: ["empty", "foreign", "edited"])
    func foreignFolder(kind: String) async throws {
        let database = try await ServiceDatabase.migrated()
        let folder = try copyOfMigrations()
        defer { folder.remove() }
        let path = folder.path + "/Migrations"
        if kind != "edited" {
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        if kind == "foreign" {
            try Data("-- migrate:up\nSELECT 1;\n-- migrate:down\n".utf8)
                .write(to: URL(filePath: path + "/0001_create_users.sql"))
        }
        if kind == "edited" {
            let file = path + "/0202_create_locations.sql"
            try (String(contentsOfFile: file, encoding: .utf8) + "\n-- edited\n")
                .write(toFile: file, atomically: true, encoding: .utf8)
        }
        let fault = kind == "edited" ? "has another 0202_create_locations" : "has no \(Self.schema[0])"
        for arguments in [
            ["migrate", "validate"], ["migrate", "status"], ["migrate", "up"], ["migrate", "down", "--yes"],
            ["doctor"],
            ["serve"],
        ] {
            let result = try await PoiProgram.run(
                arguments,
                environment: ["DATABASE_URL": database.connectionString, "POI_MIGRATIONS_DIR": path])
            #expect(result.exitCode == 64)
            #expect(result.standardOutput == [])
            #expect(
                result.standardError == [
                    "poi: POI_MIGRATIONS_DIR=\(path): expected the migrations that this program was built with; the folder "
                        + fault
                ], "\(arguments)")
        }
        #expect(try await appliedVersions(in: database) == Self.versions)
    }

    @Test(
        "A database that another file of the same number has made is refused, named by doctor, and not served"
    )
    func foreignDatabase() async throws {
        let database = try await ServiceDatabase.migrated()
        try await DatabaseSession(database.connectionString)
            .run("UPDATE schema_migrations SET checksum = 'another' WHERE version = '0202'")
        let environment = ["DATABASE_URL": database.connectionString]
        for action in ["validate", "up", "down"] {
            let result = try await PoiProgram.run(["migrate", action], environment: environment)
            #expect(result.exitCode == 1)
            #expect(result.standardOutput == [])
            #expect(result.standardError.map { $0.hasPrefix("poi: 0202_create_locations") } == [true])
        }
        let doctor = try await PoiProgram.run(["doctor"], environment: environment)
        #expect(doctor.exitCode == 2)
        #expect(doctor.standardOutput.contains { $0.contains("0202 (another file of that number is)") })
        let server = try await ServerProcess.serve(databaseURL: database.connectionString)
        try await server.event("migrations-missing")
        #expect(try await get("/readyz", port: server.port).status == 503)
        try await server.finish()
    }

    @Test(
        "Without PostGIS, without the right to create it, and with it off the search path it says what to do")
    func postgis() async throws {
        let owner = "poi_owner_\(UInt32.random(in: 0 ... .max))"
        for (preparation, fault, advice) in [
            // What there is can't be taken away from the cluster, so a view says that it isn't there.
            (
                "CREATE VIEW pg_available_extensions AS SELECT 'hstore' AS name; "
                    + "ALTER DATABASE %@ SET search_path = public, pg_catalog",
                "this PostgreSQL has no PostGIS", "Install its package"
            ),
            (
                "CREATE ROLE \(owner); GRANT ALL ON SCHEMA public TO \(owner); ALTER DATABASE %@ SET role = \(owner)",
                "permission denied to create extension", "deploy/postgres/roles.sql"
            ),
            (
                "CREATE SCHEMA \"Geo\"; CREATE EXTENSION postgis SCHEMA \"Geo\"",
                "PostGIS is in the schema \"Geo\"", "SET search_path = \"$user\", public, \"Geo\""
            ),
        ] {
            let database = try await ServiceDatabase.empty()
            try await DatabaseSession(database.connectionString)
                .run(preparation.replacing("%@", with: database.name))
            let result = try await PoiProgram.run(
                ["migrate", "up"], environment: ["DATABASE_URL": database.connectionString])
            #expect(result.exitCode == 1)
            let text = result.standardError.joined(separator: "\n")
            #expect(text.contains(fault) && text.contains(advice), "\(text)")
        }
    }

    @Test("An older release goes on with a newer schema, and can't undo it")
    func olderRelease() async throws {
        let database = try await ServiceDatabase.migrated()
        try await DatabaseSession(database.connectionString)
            .run("INSERT INTO schema_migrations VALUES ('9999', '9999_create_later', '')")
        for arguments in [[], ["--seeds"]] {
            let result = try await PoiProgram.run(
                ["migrate", "up"] + arguments, environment: ["DATABASE_URL": database.connectionString])
            #expect(
                result.standardOutput == [
                    "the schema is newer than this program: 9999_create_later", "nothing to do",
                ], "\(result)")
        }
        #expect(try await migrate("validate", on: database) == [])
        let status = try await migrate("status", on: database)
        #expect(status.dropLast().last?.hasPrefix("newer       9999_create_later") == true)
        #expect(status.last?.hasSuffix("1 newer") == true)
        // Only the newer release knows how it is undone, and what is below it can't be undone before.
        let down = try await PoiProgram.run(
            ["migrate", "down", "--yes"], environment: ["DATABASE_URL": database.connectionString])
        #expect(down.exitCode == 1)
        #expect(down.standardError.first?.contains("without a file: 9999") == true)
    }

    @Test("A database of a version that was never released is refused in one line, and not served")
    func neverReleased() async throws {
        let database = try await ServiceDatabase.migrated()
        try await DatabaseSession(database.connectionString)
            .run(
                "TRUNCATE schema_migrations; INSERT INTO schema_migrations VALUES ('0101', '', ''), ('0118', '', '')"
            )
        let line =
            "this database was made by a version that was never released (migrations 0101 to 0118), and can't be "
            + "migrated; nothing was changed: make a new one, and import into it"
        for arguments in [["up"], ["up", "--seeds"], ["validate"], ["down"], ["down", "--yes"]] {
            let result = try await PoiProgram.run(
                ["migrate"] + arguments, environment: ["DATABASE_URL": database.connectionString])
            #expect(result.exitCode == 1, "\(arguments)")
            #expect(result.standardOutput == [])
            #expect(result.standardError == ["poi: " + line])
        }
        let status = try await migrate("status", on: database)
        #expect(status.prefix(2).allSatisfy { $0.hasPrefix("replaced ") })
        #expect(status.last == line)
        #expect(try await appliedVersions(in: database) == ["0101", "0118"])
        let server = try await ServerProcess.serve(databaseURL: database.connectionString)
        try await server.event("migrations-missing")
        try await server.finish()
    }

    @Test("A database that doesn't exist is named without the password, with exit code 1")
    func noDatabase() async throws {
        let result = try await PoiProgram.run(
            ["migrate", "status"], environment: ["DATABASE_URL": "postgresql://u:hunter2@127.0.0.1:1/db"])
        #expect(result.exitCode == 1)
        #expect(result.standardOutput == [])
        #expect(result.standardError.first?.hasPrefix("poi: ") == true)
        #expect(!result.standardError.joined().contains("hunter2"))
    }

    private func copyOfMigrations() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try FileManager.default.copyItem(
            atPath: PoiProgram.migrations.path, toPath: folder.path + "/Migrations")
        return folder
    }
}

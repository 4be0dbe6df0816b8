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
    private static let nextVersion = String(
        format: "%04d", (all.compactMap { Int($0.prefix(4)) }.max() ?? 0) + 1)

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

    @Test("A database can be migrated up, to a version, with the seeds, and down again")
    func upAndDown() async throws {
        let database = try await ServiceDatabase.empty()
        #expect(
            try await migrate("up", "--to", Self.versions[1], on: database)
                == done("apply", Array(Self.schema[..<2])))
        #expect(try await migrate("up", on: database) == done("apply", Array(Self.schema[2...])))
        #expect(try await migrate("up", on: database) == ["nothing to do"])
        #expect(try await migrate("up", "--seeds", on: database) == done("apply", Self.seeds))
        #expect(try await appliedVersions(in: database) == Self.versions)
        _ = try await migrate("validate", on: database)
        let rest = Self.all.dropLast()
        #expect(try await migrate("down", "--yes", on: database) == done("undo", [Self.all[rest.count]]))
        #expect(
            try await migrate("down", "--to", "0", "--yes", on: database)
                == done("undo", rest.reversed()))
        #expect(try await appliedVersions(in: database) == [])
    }

    @Test("Down without --yes says what would be lost, ends with exit code 64, and changes nothing")
    func downUnconfirmed() async throws {
        let database = try await ServiceDatabase.migrated()
        for (arguments, names) in [
            ([], Self.all.suffix(1)), (["--to", Self.versions[0]], Self.all.dropFirst()),
        ] {
            let result = try await PoiProgram.run(
                ["migrate", "down"] + arguments, environment: ["DATABASE_URL": database.connectionString])
            #expect(result.exitCode == 64)
            #expect(result.standardOutput == [])
            let names = names.reversed().joined(separator: ", ")
            #expect(
                result.standardError == [
                    "poi: migrate down would undo \(names) and drop what was made by it, with all data in it; "
                        + "confirm with --yes"
                ])
        }
        #expect(try await appliedVersions(in: database) == Self.versions)
        #expect(
            try await migrate("down", "--dry-run", on: database) == [
                "would undo \(Self.all[Self.all.count - 1])"
            ])
        let empty = try await ServiceDatabase.empty()
        #expect(try await migrate("down", on: empty) == ["nothing to do"])
    }

    @Test("A dry run tells what would be done, and does nothing")
    func dryRun() async throws {
        let database = try await ServiceDatabase.empty()
        let lines = try await migrate("up", "--dry-run", "--seeds", on: database)
        #expect(lines == Self.all.map { "would apply \($0)" })
        let tables = try await DatabaseSession(database.connectionString)
            .run("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        #expect(tables == ["0"])
    }

    @Test("The status lists every migration with its state")
    func status() async throws {
        let database = try await ServiceDatabase.empty()
        _ = try await migrate("up", "--to", "202", on: database)
        let words = try await migrate("status", on: database).map {
            $0.split(separator: " ").prefix(2).map(String.init)
        }
        let expected = Self.all.enumerated().map { index, name in
            if index < 2 { return ["applied", name] }
            return [Self.seeds.contains(name) ? "optional" : "pending", name]
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

    @Test("An edited file is refused, whatever the command, and nothing is changed")
    func editedFile() async throws {
        let database = try await ServiceDatabase.migrated()
        let folder = try copyOfMigrations()
        defer { folder.remove() }
        let file = folder.path + "/Migrations/0202_create_locations.sql"
        try (String(contentsOfFile: file, encoding: .utf8) + "\n-- edited\n")
            .write(toFile: file, atomically: true, encoding: .utf8)
        for arguments in [["validate"], ["up"], ["down"]] {
            let result = try await PoiProgram.run(
                ["migrate"] + arguments,
                environment: [
                    "DATABASE_URL": database.connectionString,
                    "POI_MIGRATIONS_DIR": folder.path + "/Migrations",
                ])
            #expect(result.exitCode == 1)
            #expect(result.standardOutput == [])
            #expect(result.standardError.count == 1)
            #expect(result.standardError.first?.hasPrefix("poi: 0202_create_locations") == true)
        }
        #expect(try await appliedVersions(in: database) == Self.versions)
    }

    @Test("A new migration gets the next number, in the folder it belongs to")
    func newFile() async throws {
        let folder = try copyOfMigrations()
        defer { folder.remove() }
        for (arguments, file) in [
            (["Add opening hours"], "Migrations/\(Self.nextVersion)_add_opening_hours.sql"),
            (["insert Oakland", "--seeds"], "Migrations/Seeds/\(Self.nextVersion)_insert_oakland.sql"),
        ] {
            // The working directory's migrations are the default.
            let result = try await PoiProgram.run(
                ["migrate", "new"] + arguments, environment: ["POI_MIGRATIONS_DIR": ""],
                directory: folder.path)
            #expect(result.standardOutput == [file], "\(result)")
            let path = folder.path + "/" + file
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.contains("-- migrate:up") && text.contains("-- migrate:down"))
            // An empty one would be refused from now on.
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test("An older release goes on with a newer schema, and can't undo it")
    func olderRelease() async throws {
        let database = try await ServiceDatabase.migrated()
        try await DatabaseSession(database.connectionString)
            .run("INSERT INTO schema_migrations (version, name) VALUES ('9999', '9999_create_later')")
        for arguments in [[], ["--seeds", "--dry-run"]] {
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
                "TRUNCATE schema_migrations; INSERT INTO schema_migrations (version) VALUES ('0101'), ('0118')"
            )
        let line =
            "this database was made by a version that was never released (migrations 0101 to 0118), and can't be "
            + "migrated; nothing was changed: make a new one, and import into it"
        for arguments in [
            ["up"], ["up", "--seeds", "--dry-run"], ["validate"], ["down"], ["down", "--yes"],
        ] {
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

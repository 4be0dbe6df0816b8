import Foundation
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("poi datasets", .timeLimit(.minutes(5)))
final class DatasetsCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    deinit { folder.remove() }

    private static func run(
        _ arguments: [String], _ database: TestDatabase, command: String = "datasets"
    ) async throws -> PoiProgram.Result {
        try await PoiProgram.run(
            [command] + arguments, environment: ["DATABASE_URL": database.connectionString])
    }

    /// A database with two datasets.
    private static func database() async throws -> (TestDatabase, DatabaseSession) {
        let database = try await ServiceDatabase.migrated()
        let session = try DatabaseSession(database.connectionString)
        try await session.run(
            """
            DELETE FROM locations; DELETE FROM datasets;
            INSERT INTO datasets (name, license, credit, url)
            VALUES ('cafes', 'CC0-1.0', '© Sam''s', 'https://a.example'), ('none', 'X', NULL, NULL);
            INSERT INTO locations (source_dataset, source_license, source_id, name, category, latitude, longitude)
            VALUES ('cafes', 'CC0-1.0', '1', 'A', 'cafe', 1, 2), ('cafes', 'CC0-1.0', '2', 'B', 'cafe', 3, 4)
            """)
        return (database, session)
    }

    @Test("poi datasets lists what there is as a table, and a server's role may do so")
    func list() async throws {
        let (database, _) = try await Self.database()
        for arguments in [[], ["list"]] {
            let result = try await Self.run(arguments, database)
            #expect(result.exitCode == 0 && result.standardError == [])
            #expect(
                result.standardOutput == [
                    "dataset  places  license  credit   url",
                    "cafes         2  CC0-1.0  © Sam's  https://a.example",
                    "none          0  X",
                ])
        }
    }

    @Test(
        "An export is complete or not there, its format is the extension's, and it says how it is imported again"
    )
    func export() async throws {
        let (database, _) = try await Self.database()
        let terms = "--dataset cafes --license CC0-1.0 --credit '© Sam'\\''s' --url https://a.example"
        for name in ["cafes.csv", "cafes.geojson"] {
            let path = folder.path + "/" + name
            let result = try await Self.run(["export", "cafes", path], database)
            #expect(result.exitCode == 0 && result.standardOutput == [])
            #expect(result.standardError == ["2 places; to import them: poi import \(path) \(terms)"])
            let again = try await Self.run(
                [path, "--dataset", "cafes", "--license", "CC0-1.0", "--sync"], database, command: "import")
            #expect(again.standardOutput.contains("added 0, changed 0, unchanged 2, removed 0"))
            let printed = try await Self.run(
                ["export", "cafes", "--format", name.hasSuffix("csv") ? "csv" : "geojson"], database)
            #expect(printed.standardError == ["2 places; to import them: poi import - \(terms)"])
            #expect(
                try printed.standardOutput.joined(separator: "\n") + "\n"
                    == String(contentsOfFile: path, encoding: .utf8))
        }
        let missing = folder.path + "/missing.csv"
        let unknown = try await Self.run(["export", "caffes", missing], database)
        #expect(unknown.exitCode == 1 && unknown.standardOutput == [])
        #expect(unknown.standardError == ["poi: there is no dataset caffes; did you mean cafes?"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                == ["cafes.csv", "cafes.geojson"])
        let other = try await Self.run(["export", "cafes", folder.path + "/cafes.txt"], database)
        #expect(other.exitCode == 64 && other.standardError.first?.contains("--format") == true)
    }

    @Test("A removal without --yes says how many places would go and removes nothing; with it, they are gone")
    func remove() async throws {
        let (database, session) = try await Self.database()
        let refused = try await Self.run(["remove", "cafes"], database)
        #expect(refused.exitCode == 64 && refused.standardOutput == [])
        #expect(
            refused.standardError == [
                "poi: poi datasets remove would remove cafes and its 2 places; confirm with --yes"
            ])
        #expect(try await session.run("SELECT count(*) FROM locations") == ["2"])
        let result = try await Self.run(["remove", "cafes", "--yes"], database)
        #expect(result.exitCode == 0 && result.standardError == [])
        #expect(result.standardOutput == ["cafes is removed, with 2 places"])
        #expect(try await session.run("SELECT count(*) FROM locations") == ["0"])
        #expect(try await session.run("SELECT name FROM datasets") == ["none"])
        let again = try await Self.run(["remove", "cafes", "--yes"], database)
        #expect(
            again.exitCode == 1 && again.standardError.first?.contains("there is no dataset cafes") == true)
    }

    @Test("A signal ends a removal that has to wait, and nothing is changed")
    func signal() async throws {
        let (database, session) = try await Self.database()
        try await session.run("BEGIN; LOCK TABLE locations IN SHARE MODE")
        let program = try PoiProgram.start(
            ["datasets", "remove", "cafes", "--yes"], environment: ["DATABASE_URL": database.connectionString]
        )
        _ = try await program.output.line { $0.text.hasPrefix("removing 2 places") }
        program.send(signal: SIGTERM)
        #expect(try await program.exitCode() == 1)
        #expect(
            program.output.lines(of: .standardError).last == "poi: stopped by SIGTERM: nothing was changed")
        try await session.run("COMMIT")
        #expect(try await session.run("SELECT count(*) FROM locations") == ["2"])
    }
}

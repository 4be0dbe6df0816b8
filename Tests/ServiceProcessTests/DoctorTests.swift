import Foundation
import Loopback
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("poi doctor", .timeLimit(.minutes(5)))
struct DoctorTests {
    private func run(
        _ arguments: [String] = [], url: String, path: String = "/nonexistent"
    ) async throws -> PoiProgram.Result {
        try await PoiProgram.run(["doctor"] + arguments, environment: ["DATABASE_URL": url, "PATH": path])
    }

    @Test("The exit code is that of the worst finding, and each but the good ones has advice")
    func exitCode() async throws {
        let database = try await ServiceDatabase.migrated()
        let result = try await run(url: database.connectionString)
        // The tests' role is a superuser.
        #expect(result.exitCode == 1)
        #expect(result.standardError == [])
        let lines = result.standardOutput
        #expect(lines.contains { $0.hasPrefix("good     migrations: ") })
        #expect(
            lines.contains {
                $0.hasPrefix("good     descriptors: ") || $0.hasPrefix("warning  descriptors: ")
            })
        #expect(
            lines.filter { $0.hasPrefix("warning") }.count
                == lines.filter { $0.hasPrefix("         -> ") }.count)
        try await DatabaseSession(database.connectionString).run(
            "ALTER TABLE locations DISABLE TRIGGER locations_record_deleted")
        #expect(try await run(url: database.connectionString).exitCode == 2)
    }

    @Test("A database that can't be asked is a finding, and the others follow")
    func unreachable() async throws {
        let result = try await run(url: "postgresql://u:hunter2@127.0.0.1:1/places")
        #expect(result.exitCode == 2)
        #expect(result.standardOutput.contains { $0.hasPrefix("fault    database: can't be asked") })
        #expect(result.standardOutput.contains { $0.contains(" descriptors: ") })
        #expect(!result.standardOutput.joined().contains("hunter2"))
    }

    @Test("Without DATABASE_URL the doctor and a server's log say where libpq's variables lead")
    func addressByDefault() async throws {
        let environment = [
            "PGHOST": "127.0.0.1", "PGPORT": "1", "PGDATABASE": "places", "PGUSER": "poi",
            "PGPASSWORD": "hunter2",
        ]
        let text =
            "DATABASE_URL is not set: libpq's defaults and PG* variables lead to "
            + "user=poi dbname=places host=127.0.0.1 port=1"
        let result = try await PoiProgram.run(["doctor"], environment: environment)
        #expect(result.standardOutput.first == "good     address: " + text)
        let server = try await ServerProcess.serve(databaseURL: "", environment: environment)
        #expect(
            try await server.program.output.line { $0.text.contains("database-by-default") }.text.contains(
                text))
        try await server.finish()
        #expect(!(server.program.output.text + result.standardOutput.joined()).contains("hunter2"))
    }

    @Test(
        "The newest backup is not older than a day and two hours",
        arguments: [(25, "good"), (27, "fault"), (nil, "fault")] as [(Double?, String)])
    func backups(hours: Double?, grade: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let stop = hours.map { Int(Date().timeIntervalSince1970 - $0 * 3600) }
        let backup = stop.map { "{\"timestamp\":{\"start\":1,\"stop\":\($0)}}" } ?? ""
        let program = folder.appending(path: "pgbackrest")
        try Data("#!/bin/sh\necho '[{\"name\":\"poi\",\"backup\":[\(backup)]}]'\n".utf8).write(to: program)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        let database = try await ServiceDatabase.migrated()
        let result = try await run(url: database.connectionString, path: folder.path)
        #expect(
            result.standardOutput.contains {
                $0.hasPrefix("\(grade)".padding(toLength: 8, withPad: " ", startingAt: 0) + " backups: ")
            })
    }
}

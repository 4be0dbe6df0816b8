import Foundation
import Loopback
import ServerProcess
import ServiceFixtures
import Testing

/// What is left in the folder of a `poi dev`, and who still uses it.
private struct DevelopmentFolder {
    let folder: TemporaryFolder

    var hasURLFile: Bool { FileManager.default.fileExists(atPath: folder.path + "/database-url") }

    var postmasterID: pid_t? {
        let text = try? String(contentsOfFile: folder.path + "/postgres/data/postmaster.pid", encoding: .utf8)
        return text?.split(separator: "\n").first.flatMap { pid_t($0) }
    }

    /// Waits until no process of the server is left: each of them holds this lock.
    func waitForServerEnd() async throws {
        let path = folder.path + "/postgres/server.lock"
        try await offPool {
            let descriptor = open(path, O_RDWR | O_CLOEXEC)
            defer { close(descriptor) }
            guard flock(descriptor, LOCK_EX) == 0 else { throw CocoaError(.fileLocking) }
        }
    }
}

extension ServerProcess {
    /// The folder of the socket of its private PostgreSQL.
    fileprivate var socketFolder: String? {
        databaseURL.split(separator: "?host=").last.map(String.init)
    }
}

@Suite("poi dev", .timeLimit(.minutes(2)))
struct DevelopmentServerTests {
    @Test("poi dev serves its seeds, survives being killed, refuses a second one, and leaves nothing running")
    func life() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let state = DevelopmentFolder(folder: folder)

        let first = try await ServerProcess.dev(in: folder)
        try await first.ready()
        let places = try #require(await get(secretTarget, port: first.port).places)
        #expect(places.count == 20)
        let url = first.databaseURL
        #expect(try String(contentsOfFile: folder.path + "/database-url", encoding: .utf8) == url + "\n")
        #expect(try await DatabaseSession(url).run("SELECT count(*) > 200 FROM locations") == ["t"])

        let second = try await PoiProgram.run(
            ["dev", "--port", "0"], environment: ["POI_STATE_DIR": folder.path])
        #expect(second.exitCode == 1)
        #expect(second.standardOutput == [])
        #expect(second.standardError.count == 1)
        #expect(second.standardError.first?.contains("another poi dev uses \(folder.path)") == true)
        #expect(try await get(secretTarget, port: first.port).places == places)
        #expect(state.hasURLFile)

        let firstSocketFolder = try #require(first.socketFolder)
        #expect(FileManager.default.fileExists(atPath: firstSocketFolder))
        first.program.send(signal: SIGKILL)
        #expect(try await first.program.exitCode() == 128 + SIGKILL)
        try await state.waitForServerEnd()
        #expect(state.postmasterID == nil)
        #expect(!FileManager.default.fileExists(atPath: firstSocketFolder))
        first.expectSoundOutput()

        let third = try await ServerProcess.dev(in: folder)
        try await third.ready()
        #expect(try await get(secretTarget, port: third.port).places == places)
        let postmaster = try #require(state.postmasterID)
        let socketFolder = try #require(third.socketFolder)
        try await third.finish()
        #expect(kill(postmaster, 0) == -1 && errno == ESRCH)
        #expect(state.postmasterID == nil)
        #expect(!FileManager.default.fileExists(atPath: socketFolder))
        #expect(!state.hasURLFile)
    }

    @Test(
        "A database of a version that was never released is refused and kept, and the line says how to start afresh"
    )
    func neverReleased() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let first = try await ServerProcess.dev(in: folder)
        try await first.ready()
        try await DatabaseSession(first.databaseURL)
            .run(
                "TRUNCATE schema_migrations; INSERT INTO schema_migrations VALUES ('0101', '', ''), ('0118', '', '')"
            )
        try await first.finish()

        let refused = try await PoiProgram.run(
            ["dev", "--port", "0"], environment: ["POI_STATE_DIR": folder.path])
        #expect(refused.exitCode == 1)
        #expect(refused.standardOutput == [])
        #expect(refused.standardError.count == 1)
        let line = try #require(refused.standardError.first)
        #expect(line.contains("never released") && line.contains("nothing was changed"))
        #expect(DevelopmentFolder(folder: folder).postmasterID == nil)
        let version = "/data/PG_VERSION"
        #expect(FileManager.default.fileExists(atPath: folder.path + "/postgres" + version))

        let command = try #require(line.split(separator: "start afresh: ").last)
        #expect(command.hasPrefix("mv "))
        let moving = try ChildProgram(
            executable: "/bin/sh", arguments: ["-c", String(command)], environment: ["PATH": "/usr/bin:/bin"])
        #expect(try await moving.exitCode() == 0)
        #expect(FileManager.default.fileExists(atPath: folder.path + "/postgres-before-0.4.0" + version))
        let third = try await ServerProcess.dev(in: folder)
        try await third.ready()
        #expect(try await get(secretTarget, port: third.port).places?.count == 20)
        try await third.finish()
    }

    @Test(
        "poi dev that root has started works in a folder that only root may enter",
        .enabled(if: geteuid() == 0, "needs root"))
    func closedFolder() async throws {
        let folder = try TemporaryFolder(permissions: 0o700)
        defer { folder.remove() }
        let server = try await ServerProcess.dev(in: folder)
        try await server.ready()
        #expect(try await get(secretTarget, port: server.port).places?.count == 20)
        try await server.finish()
        #expect(DevelopmentFolder(folder: folder).postmasterID == nil)
    }
}

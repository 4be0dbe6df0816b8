import Foundation
import Testing

@testable import PrivateCluster

/// What happens to a cluster when processes are killed. Exit tests run their body in a process of its own.
@Suite("A private cluster recovers", .timeLimit(.minutes(3)))
struct RecoveryTests {
    let folder: TemporaryFolder
    let directory: ClusterDirectory

    init() throws {
        folder = try TemporaryFolder()
        directory = ClusterDirectory(path: folder.cluster.path())
    }

    @Test("The server stops and its socket's folder goes when the owner is killed")
    func ownerKilled() async throws {
        let owner = await #expect(
            processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
        ) { [path = folder.cluster.path() as String] in
            let cluster = PrivateCluster(directory: URL(filePath: path))
            try cluster.start()
            try cluster.execute("CREATE TABLE kept AS SELECT 42 AS answer")
            announce(try cluster.withRunning { $0.socketFolder })
            kill(getpid(), SIGKILL)
        }
        let socketFolder = try announcement(in: owner)
        // Every process of the server holds this lock, and the supervisor until it has cleaned up.
        _ = try FileLock.acquire(path: directory.serverLock)
        #expect(directory.postmasterID == nil)
        #expect(!FileManager.default.fileExists(atPath: socketFolder))

        let next = PrivateCluster(directory: folder.cluster)
        try next.start()
        defer { next.stop() }
        #expect(try next.execute("SELECT answer FROM kept") == "42")
    }

    @Test("The next run stops a server whose owner and supervisor were both killed, and takes over")
    func ownerAndSupervisorKilled() async throws {
        let owner = await #expect(
            processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
        ) { [path = folder.cluster.path() as String] in
            let cluster = PrivateCluster(directory: URL(filePath: path))
            try cluster.start()
            try cluster.execute("CREATE TABLE kept AS SELECT 42 AS answer")
            announce(try cluster.withRunning { $0.socketFolder })
            kill(try #require(try cluster.withRunning { $0.supervisorID }), SIGKILL)
            kill(getpid(), SIGKILL)
        }
        let orphan = try #require(directory.postmasterID)
        #expect(kill(orphan, 0) == 0)

        let next = PrivateCluster(directory: folder.cluster)
        try next.start()
        defer { next.stop() }
        #expect(try next.execute("SELECT answer FROM kept") == "42")
        #expect(try next.postmasterID() != orphan)
        #expect(!FileManager.default.fileExists(atPath: try announcement(in: owner)))
    }

    @Test("Later ephemeral clusters end and remove one whose owner and supervisor were both killed")
    func abandonedEphemeral() async throws {
        let owner = await #expect(
            processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
        ) {
            let cluster = PrivateCluster(ephemeralWith: [:])
            try cluster.start()
            announce(try cluster.directory().path(percentEncoded: false))
            kill(try #require(try cluster.withRunning { $0.supervisorID }), SIGKILL)
            kill(getpid(), SIGKILL)
        }
        let abandoned = ClusterDirectory(path: try announcement(in: owner).removingTrailingSlash)
        let user = try ServerUser(forDirectory: "/tmp")
        try ClusterDirectory.removeStaleEphemerals(user: user)
        // The server's last process lets go of this lock.
        _ = try? FileLock.acquire(path: abandoned.serverLock, creating: false)
        // Other tests start clusters, too, and may be removing the folder: it is theirs until they let go of its lock,
        // and it is there for a moment longer than the lock's file.
        while FileManager.default.fileExists(atPath: abandoned.path) {
            try Task.checkCancellation()
            try ClusterDirectory.removeStaleEphemerals(user: user)
            _ = try? FileLock.acquire(path: abandoned.ownerLock, creating: false)
        }
        #expect(!FileManager.default.fileExists(atPath: abandoned.path))
    }

    @Test("An ephemeral cluster stops even when one of its sessions hangs")
    func hangingSession() throws {
        let cluster = PrivateCluster(ephemeralWith: [:])
        try cluster.start()
        let checkpointer = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"
        kill(try #require(Int32(try cluster.execute(checkpointer))), SIGSTOP)
        let path = try cluster.directory().path(percentEncoded: false)
        cluster.stop()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("Stopping ends the server even when somebody killed its supervisor")
    func supervisorKilled() throws {
        let cluster = PrivateCluster(directory: folder.cluster)
        try cluster.start()
        kill(try #require(try cluster.withRunning { $0.supervisorID }), SIGKILL)
        cluster.stop()
        #expect(directory.postmasterID == nil)
    }

    @Test("A server that was killed starts again with its committed data, at the same address")
    func postmasterKilled() throws {
        let cluster = PrivateCluster(directory: folder.cluster)
        try cluster.start()
        defer { cluster.stop() }
        let address = try cluster.connectionString()
        try cluster.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        try cluster.crashServer()
        #expect(throws: PrivateClusterError.self) { try cluster.execute("SELECT 1") }
        try cluster.startServer()
        #expect(try cluster.execute("SELECT answer FROM kept") == "42")
        #expect(try cluster.connectionString() == address)
    }

    @Test("A server restarts", arguments: [PrivateCluster.ShutdownMode.fast, .immediate])
    func restart(mode: PrivateCluster.ShutdownMode) throws {
        let cluster = PrivateCluster(directory: folder.cluster)
        try cluster.start()
        defer { cluster.stop() }
        let first = try cluster.postmasterID()
        try cluster.restartServer(mode)
        #expect(try cluster.postmasterID() != first)
        #expect(try cluster.execute("SELECT 1") == "1")
    }

    @Test("An initialization that was interrupted is done again")
    func interruptedInitialization() throws {
        try FileManager.default.createDirectory(
            atPath: directory.unfinishedData, withIntermediateDirectories: true)
        let user = try ServerUser(forDirectory: "/tmp")
        try user.own(directory.path)
        try user.own(directory.unfinishedData)
        try "half".write(toFile: "\(directory.unfinishedData)/PG_VERSION", atomically: true, encoding: .utf8)
        let cluster = PrivateCluster(directory: folder.cluster)
        try cluster.start()
        defer { cluster.stop() }
        #expect(try cluster.execute("SELECT 1") == "1")
        #expect(!FileManager.default.fileExists(atPath: directory.unfinishedData))
    }

    @Test("A working directory that the server's user may not enter does no harm")
    func closedWorkingDirectory() async throws {
        let closed = try TemporaryFolder(permissions: 0o700)
        await #expect(processExitsWith: .success) { [path = closed.path as String] in
            #expect(FileManager.default.changeCurrentDirectoryPath(path))
            let cluster = PrivateCluster(ephemeralWith: [:])
            try cluster.start()
            #expect(try cluster.execute("SELECT 1") == "1")
            cluster.stop()
        }
    }
}

/// Hands a line from an exit test's body to the test.
private func announce(_ text: String) {
    FileHandle.standardOutput.write(Data("announced:\(text)\n".utf8))
}

private func announcement(in result: ExitTest.Result?) throws -> String {
    let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
    let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("announced:") })
    return String(line.dropFirst("announced:".count))
}

import Foundation
import PrivateCluster
import Testing

@Suite("A private cluster")
struct PrivateClusterTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("A second start finds the data of the first")
    func keepsData() throws {
        let first = PrivateCluster(directory: folder.cluster)
        try first.start()
        try first.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        first.stop()

        let second = PrivateCluster(directory: folder.cluster)
        try second.start()
        defer { second.stop() }
        #expect(try second.execute("SELECT answer FROM kept") == "42")
    }

    @Test("The server is UTF-8, in the C.UTF-8 locale, and listens on no port")
    func serverSettings() throws {
        let cluster = PrivateCluster(ephemeralWith: [:])
        try cluster.start()
        defer { cluster.stop() }
        #expect(
            try cluster.execute(
                "SELECT current_setting('server_encoding'), current_setting('listen_addresses')")
                == "UTF8|")
        #if !canImport(Darwin)
            #expect(try cluster.execute("SELECT datcollate FROM pg_database LIMIT 1") == "C.UTF-8")
        #endif
    }

    @Test("Settings of the caller take precedence over the defaults")
    func callersSettings() throws {
        let cluster = PrivateCluster(ephemeralWith: ["max_connections": "17", "fsync": "on"])
        try cluster.start()
        defer { cluster.stop() }
        #expect(try cluster.execute("SHOW max_connections; SHOW fsync") == "17\non")
    }

    @Test("An ephemeral cluster leaves no folder behind")
    func ephemeralVanishes() throws {
        let cluster = PrivateCluster(ephemeralWith: [:])
        try cluster.start()
        let path = try cluster.directory().path(percentEncoded: false)
        #expect(FileManager.default.fileExists(atPath: path))
        cluster.stop()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("Starting and stopping twice is harmless, and a stopped cluster answers with an error")
    func idempotence() throws {
        let cluster = PrivateCluster(ephemeralWith: [:])
        try cluster.start()
        try cluster.start()
        cluster.stop()
        cluster.stop()
        #expect(throws: PrivateClusterError.notRunning) { try cluster.execute("SELECT 1") }
    }

    @Test("The link to the socket leads psql there while the server runs, and is gone afterwards")
    func socketLink() throws {
        let cluster = PrivateCluster(directory: folder.cluster)
        try cluster.start()
        let link = folder.cluster.appending(path: "socket").path()
        let socketFolder = try FileManager.default.destinationOfSymbolicLink(atPath: link)
        #expect(try cluster.connectionString() == "postgresql://postgres@/postgres?host=\(socketFolder)")
        #expect(FileManager.default.fileExists(atPath: "\(socketFolder)/.s.PGSQL.5432"))
        cluster.stop()
        #expect(!FileManager.default.fileExists(atPath: socketFolder))
        #expect(throws: (any Error).self) { try FileManager.default.destinationOfSymbolicLink(atPath: link) }
    }

    @Test("A folder whose path is far longer than a socket's may be works")
    func longPath() throws {
        let long = folder.url.appending(path: String(repeating: "long/", count: 50))
        let cluster = PrivateCluster(directory: long)
        try cluster.start()
        defer { cluster.stop() }
        #expect(try cluster.execute("SELECT 1") == "1")
    }

    @Test("A folder below one that only our own user may enter works, and the second start finds the data")
    func closedFolder() throws {
        let closed = try TemporaryFolder(permissions: 0o700)
        let first = PrivateCluster(directory: closed.cluster)
        try first.start()
        try first.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        let elsewhere = try first.directory()
        first.stop()
        // Root's server runs as another user, who cannot get there.
        #expect(elsewhere.path().hasPrefix("/var/lib/poi-dev-") == (geteuid() == 0))

        let second = PrivateCluster(directory: closed.cluster)
        try second.start()
        defer { second.stop() }
        #expect(try second.execute("SELECT answer FROM kept") == "42")
        #expect(try second.directory() == elsewhere)
    }

    @Test("The server is in a process group of its own, so that a terminal's Ctrl-C spares it")
    func processGroup() throws {
        let cluster = PrivateCluster(ephemeralWith: [:])
        try cluster.start()
        defer { cluster.stop() }
        let group = getpgid(try cluster.postmasterID())
        #expect(group > 0)
        #expect(group != getpgrp())
    }

    @Test("Databases are made, copied and dropped, whatever their names")
    func databases() throws {
        let cluster = PrivateCluster(ephemeralWith: [:])
        try cluster.start()
        defer { cluster.stop() }
        let name = #"a "quoted" name's / ü%"#
        try cluster.createDatabase(name)
        try cluster.execute("CREATE TABLE copied AS SELECT 7 AS number", database: name)
        try cluster.createDatabase("copy", template: name)
        #expect(try cluster.execute("SELECT number FROM copied", database: "copy") == "7")
        try cluster.dropDatabase(name)
        try cluster.dropDatabase(name)
        #expect(try cluster.hasDatabase(name) == false)
        #expect(try cluster.hasDatabase("copy"))
    }

    @Test("A failing statement's error carries what the server said")
    func failingStatement() throws {
        let database = try TestDatabase()
        let error = #expect(throws: PrivateClusterError.self) { try database.execute("SELECT 1 / 0") }
        #expect(error?.description.contains("division by zero") == true)
    }
}

@Suite("A test database")
struct TestDatabaseTests {
    @Test("Two test databases share a cluster and nothing else")
    func isolation() throws {
        let first = try TestDatabase()
        let second = try TestDatabase()
        try first.execute("CREATE TABLE mine AS SELECT 1")
        #expect(try second.execute("SELECT to_regclass('mine') IS NULL") == "t")
        #expect(try first.cluster.postmasterID() == second.cluster.postmasterID())
    }

    @Test("A copy of a template holds its rows, and dropping it leaves the template")
    func template() throws {
        let template = try TestDatabase()
        try template.execute("CREATE TABLE copied AS SELECT 7 AS number")
        let copy = try TestDatabase(template: template)
        #expect(try copy.execute("SELECT number FROM copied") == "7")
        try copy.drop()
        #expect(try template.execute("SELECT number FROM copied") == "7")
    }
}

/// A folder that every user may enter, unless `permissions` say otherwise; removed with its last reference.
final class TemporaryFolder: Sendable {
    let url: URL

    init(permissions: Int = 0o755) throws {
        url = URL(filePath: "/tmp/cluster-tests-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }

    var path: String { url.path(percentEncoded: false) }

    /// The folder that a cluster in these tests is asked to use.
    var cluster: URL { url.appending(path: "cluster") }

    deinit {
        // A cluster that had to go elsewhere left a link here.
        if let elsewhere = try? FileManager.default.destinationOfSymbolicLink(atPath: cluster.path()) {
            try? FileManager.default.removeItem(atPath: elsewhere)
        }
        try? FileManager.default.removeItem(at: url)
    }
}

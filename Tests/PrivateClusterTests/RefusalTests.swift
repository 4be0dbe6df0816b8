import Foundation
import Testing

@testable import PrivateCluster

@Suite("A private cluster refuses")
struct RefusalTests {
    let folder: TemporaryFolder
    let directory: ClusterDirectory

    init() throws {
        folder = try TemporaryFolder()
        directory = ClusterDirectory(path: folder.cluster.path())
    }

    @Test("A cluster refuses a folder that another process uses, and names the process")
    func twoAtOnce() async throws {
        let first = PrivateCluster(directory: folder.cluster)
        try first.start()
        defer { first.stop() }
        await #expect(processExitsWith: .success) {
            [path = folder.cluster.path() as String, owner = getpid() as Int32] in
            let error = #expect(throws: PrivateClusterError.self) {
                try PrivateCluster(directory: URL(filePath: path)).start()
            }
            #expect(error == .directoryInUse(path: path, processID: owner))
            #expect(error?.description == "another poi dev uses \(path) (process \(owner))")
        }
        #expect(try first.execute("SELECT 1") == "1")
    }

    @Test("A cluster refuses data of another major version, and doesn't touch them")
    func otherVersion() throws {
        try FileManager.default.createDirectory(atPath: directory.data, withIntermediateDirectories: true)
        try "9.6\n".write(toFile: "\(directory.data)/PG_VERSION", atomically: true, encoding: .utf8)
        let error = #expect(throws: PrivateClusterError.self) {
            try PrivateCluster(directory: folder.cluster).start()
        }
        #expect(error?.description.contains("was written by PostgreSQL 9.6") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.data) == ["PG_VERSION"])
    }

    @Test("A cluster refuses an unknown setting with the server's message, and releases the folder")
    func unknownSetting() throws {
        let error = #expect(throws: PrivateClusterError.self) {
            try PrivateCluster(directory: folder.cluster, settings: ["no_such_setting": "1"]).start()
        }
        #expect(
            error?.description.contains(#"unrecognized configuration parameter "no_such_setting""#) == true)
        #expect(readLink(directory.socketLink) == nil)

        let corrected = PrivateCluster(directory: folder.cluster)
        try corrected.start()
        corrected.stop()
    }

    @Test("A missing PostgreSQL is an error that names the script that installs it")
    func noPostgres() throws {
        let error = #expect(throws: PrivateClusterError.self) {
            try PostgresInstallation.find(environment: ["POI_POSTGRES_BIN": folder.path])
        }
        #expect(error == .postgresNotFound(searched: [folder.path]))
        #expect(error?.description.contains("run scripts/bootstrap") == true)
    }

    @Test(
        "A version is read from what postgres prints",
        arguments: [
            ("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)", 15),
            ("postgres (PostgreSQL) 19beta1", 19),
            ("postgres (PostgreSQL) 9.6.24", 9), ("something else", nil),
        ])
    func versions(output: String, major: Int?) {
        #expect(PostgresInstallation.majorVersion(in: output) == major)
    }
}

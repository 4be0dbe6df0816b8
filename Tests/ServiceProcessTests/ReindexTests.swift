import Foundation
import Loopback
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("poi reindex", .timeLimit(.minutes(5)))
struct ReindexTests {
    /// Sends a request with an entity tag.
    private static func get(_ target: String, tag: String, port: Int) async throws -> WireResponse {
        try await offPool {
            let connection = try WireClient(port: port)
            connection.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \(tag)\r\n\r\n")
            return try connection.receiveResponse()
        }
    }

    @Test(
        "A server serves what was written past the triggers once poi reindex has run, and confirms no tag of before"
    )
    func reindex() async throws {
        let database = try await ServiceDatabase.migrated()
        let session = try DatabaseSession(database.connectionString)
        let server = try await ServerProcess.serve(
            databaseURL: database.connectionString, environment: ["POI_INDEX": "on"])
        try await server.ready()
        let target = "/locations/84"
        let tag = try #require(try await ServiceFixtures.get(target, port: server.port).headers["etag"])
        #expect(try await Self.get(target, tag: tag, port: server.port).status == 304)
        try await session.run(
            """
            BEGIN; SET LOCAL session_replication_role = replica;
            UPDATE locations SET address = 'Past the triggers' WHERE id = 84; COMMIT
            """)
        let result = try await PoiProgram.run(
            ["reindex"], environment: ["DATABASE_URL": database.connectionString])
        let revision = try await session.run("SELECT max(revision) FROM dataset_log")
        #expect(result.exitCode == 0 && result.standardError == [])
        #expect(
            result.standardOutput == ["revision \(revision[0]): every server reads all places again"])
        // The first time was at its start.
        try await server.logLines(2) { $0.contains(#""event":"index-loaded""#) }
        var response = try await Self.get(target, tag: tag, port: server.port)
        while response.status == 304 {
            try Task.checkCancellation()
            response = try await Self.get(target, tag: tag, port: server.port)
        }
        #expect(String(decoding: response.body, as: UTF8.self).contains("Past the triggers"))
        #expect(response.headers["etag"] != tag)
        try await server.finish()
    }
}

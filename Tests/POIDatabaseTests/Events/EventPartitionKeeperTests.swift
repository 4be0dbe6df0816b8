import EventLoop
import Foundation
import Loopback
import Postgres
import PrivateCluster
import Telemetry
import Testing

@testable import POIDatabase

@Suite("The keeper of partitions", .timeLimit(.minutes(5)))
struct EventPartitionKeeperTests {
    /// The first line that a keeper logs, and for how many days there are partitions then.
    private func firstLine(
        on database: TestDatabase, as role: String = "postgres"
    ) async throws -> (line: String, daysLeft: Int?) {
        let pipe = Pipe()
        let observability = try Observability(
            format: .json, logsAccess: false, descriptor: pipe.fileHandleForWriting.fileDescriptor)
        let url = database.connectionString.replacing("postgres@", with: "\(role)@")
        return try await onLoop { loop in
            let claim = EventPartitionClaim(observability: observability)
            let configuration = try PostgresConfiguration(conninfo: url)
            let keeper = claim.claim(configuration, loop: loop)
            #expect(keeper != nil)
            // The second caller has nothing to do.
            #expect(claim.claim(configuration, loop: loop) == nil)
            let line = Task.detached { pipe.fileHandleForReading.availableData }
            #expect(keeper?.daysLeft == nil)
            let text = await line.value
            let daysLeft = keeper?.daysLeft
            await keeper?.close()
            observability.finish()
            return (String(decoding: text, as: UTF8.self), daysLeft)
        }
    }

    @Test("The keeper makes missing partitions, and logs that")
    func making() async throws {
        let database = try MigratedDatabase.empty()
        let name = try database.execute("SELECT to_char(now() AT TIME ZONE 'UTC', '\"events_\"YYYY_MM')")
        try database.execute("DROP TABLE \(name)")
        let (line, daysLeft) = try await firstLine(on: database)
        #expect(line.contains(#""event":"event-partitions-made""#))
        #expect(line.contains(name))
        let expected = try database.execute(
            """
            SELECT floor(extract(epoch FROM
                (date_trunc('month', now() AT TIME ZONE 'UTC') + interval '4 months') AT TIME ZONE 'UTC' - now()
            ) / 86400)
            """)
        // A day may end between the two.
        #expect(try [0, 1].contains(#require(daysLeft) - #require(Int(expected))))
        #expect(try database.execute("SELECT count(*) FROM \(name)") == "0")
    }

    @Test("The keeper logs that its role may not make partitions, and which command to run")
    func notAllowed() async throws {
        let database = try MigratedDatabase.empty()
        let name = try database.execute("SELECT to_char(now() AT TIME ZONE 'UTC', '\"events_\"YYYY_MM')")
        try database.execute(
            "DROP TABLE \(name); CREATE ROLE event_server LOGIN; GRANT INSERT ON events TO event_server")
        let (line, daysLeft) = try await firstLine(on: database, as: "event_server")
        #expect(daysLeft == 0)
        #expect(line.contains(#""event":"event-partitions-failed""#))
        #expect(line.contains("poi events maintain"))
        try database.execute("DROP OWNED BY event_server; DROP ROLE event_server")
    }
}

import Foundation
import PointsOfInterestClient
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Events of an app and of its extension", .timeLimit(.minutes(5)))
struct ExtensionEventsTests {
    private static let eventCount = 500
    private static let names = ["app", "extension"]

    @Test(
        "Processes with a folder each send their events once and in order, though both are killed on the way")
    func ownFolders() async throws {
        let database = try await ServiceDatabase.migrated()
        let server = try await ServerProcess.serve(databaseURL: database.connectionString)
        try await server.ready()
        let folder = try TemporaryFolder()
        var processes = try Self.names.map { name in
            try EventClient(
                user: name, baseURL: "http://127.0.0.1:\(server.port)", sharing: (folder, name))
        }
        for index in processes.indices {
            try processes[index].start(upTo: Self.eventCount)
            try await processes[index].firstAcknowledgement()
            try await processes[index].kill()
            try processes[index].start(upTo: Self.eventCount)
        }
        for process in processes { try await process.finish() }
        let session = try DatabaseSession(database.connectionString)
        for name in Self.names {
            let rows = try await session.run(
                "SELECT value->>'additional' FROM events WHERE user_id = '\(name)' ORDER BY received_at, time"
            )
            #expect(rows.compactMap { Int($0) } == Array(1...Self.eventCount), "\(name)")
        }
        folder.remove()
        #expect(try await server.stop() == 0)
    }

    @Test("A second process in the same folder is told what it needs, and the first one's events stay")
    func sameFolder() async throws {
        let folder = try TemporaryFolder()
        // Nothing listens there, so all events wait.
        let nowhere = "http://127.0.0.1:1"
        var processes = try Self.names.map { name in
            try EventClient(user: name, baseURL: nowhere, sharing: (folder, "events"))
        }
        try processes[0].start(upTo: 10)
        try await processes[0].hasTracked()
        try processes[1].start(upTo: 10)
        let failure = try await processes[1].failure()
        #expect(failure.exitCode == 74)
        #expect(failure.text.contains("\(EventQueueError.inUse)"), "\(failure.text)")
        try await processes[0].kill()
        let queue = try EventQueue(directory: URL(filePath: folder.path + "/events"))
        #expect(queue.count == 10)
        queue.close()
        folder.remove()
    }
}

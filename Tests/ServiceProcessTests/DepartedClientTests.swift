import Foundation
import Loopback
import PointsOfInterestClient
import ServerProcess
import ServiceFixtures
import Testing

/// Questions to the database.
private let targets = [secretTarget, secretTarget + "&category=park", "/locations/84", "/categories"]

@Suite("A client that goes away", .serialized, .timeLimit(.minutes(2)))
struct DepartedClientTests {
    /// A service whose queries may take longer than this test: only a cancellation ends them.
    private func start() async throws -> (ServerProcess, DatabaseSession) {
        let database = try await ServiceDatabase.migrated()
        let server = try await ServerProcess.serve(
            databaseURL: database.connectionString,
            environment: [
                "POI_INDEX": "off", "POI_LOOPS": "1", "POI_DB_STATEMENT_TIMEOUT": "300s",
                "POI_REQUEST_TIMEOUT": "300s",
                "POI_SHUTDOWN_TIMEOUT": "5s",
            ])
        try await server.ready()
        return (server, try DatabaseSession(database.connectionString))
    }

    @Test("A client's query is cancelled in the database once its socket is closed")
    func closedSocket() async throws {
        let (server, session) = try await start()
        for target in targets {
            try await session.lockPlaces()
            var connection: WireClient? = try WireClient(port: server.port)
            connection?.sendGet(target)
            try await session.waitForBlockedQueries()
            connection = nil
            try await session.waitForNoBlockedQuery()
            try await session.unlockPlaces()
            #expect(try await get(target, port: server.port).status == 200, "\(target)")
        }
        try await server.finish()
    }

    @Test("A request beside one that is cancelled gets its response")
    func company() async throws {
        let (server, session) = try await start()
        try await session.lockPlaces()
        let staying = Task { [port = server.port] in try await get(secretTarget, port: port) }
        var leaving = try (0..<8).map { _ in try WireClient(port: server.port) }
        for connection in leaving { connection.sendGet("/locations/84") }
        try await session.waitForBlockedQueries()
        leaving = []
        try await session.unlockPlaces()
        let response = try await staying.value
        #expect(response.status == 200)
        #expect(response.places?.count == 20)
        try await server.finish()
    }

    @Test("A client that has only finished sending gets its response")
    func halfClosed() async throws {
        let (server, session) = try await start()
        try await session.lockPlaces()
        let connection = try WireClient(port: server.port)
        connection.sendGet(secretTarget)
        connection.finishSending()
        try await session.waitForBlockedQueries()
        try await session.unlockPlaces()
        let received = try await offPool {
            var received: [UInt8] = []
            _ = try connection.receive(toEndInto: &received)
            return received
        }
        let responses = try ReceivedResponses(received, isReset: false).responses
        #expect(responses.last?.status == 200)
        try await server.finish()
    }
}

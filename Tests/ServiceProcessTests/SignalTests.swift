import Foundation
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Signals", .timeLimit(.minutes(2)))
struct SignalTests {
    /// A service with a request in flight that waits for a lock.
    private func busyServer() async throws -> (ServerProcess, DatabaseSession, Task<WireAnswer, any Error>) {
        let database = try await ServiceDatabase.migrated()
        let server = try await ServerProcess.serve(
            databaseURL: database.connectionString, environment: ["POI_DB_STATEMENT_TIMEOUT": "60s"])
        try await server.ready()
        let session = try DatabaseSession(database.connectionString)
        try await session.lockPlaces()
        let request = Task { [port = server.port] in try await get(secretTarget, port: port) }
        try await session.waitForBlockedQueries()
        return (server, session, request)
    }

    @Test(
        "A signal to end lets the request in flight finish and takes no other", arguments: [SIGTERM, SIGINT])
    func graceful(signal: Int32) async throws {
        let (server, session, request) = try await busyServer()
        server.program.send(signal: signal)
        try await server.event("stopping")
        try await offPool { [port = server.port] in
            // Until the listeners have closed, a connection may still be taken in.
            while (try? WireConnection(port: port)) != nil {}
        }
        try await session.unlockPlaces()
        let answer = try await request.value
        #expect(answer.status == 200)
        #expect(answer.places?.count == 20)
        #expect(answer.headers["connection"] == "close")
        #expect(try await server.program.exitCode() == 0)
        server.expectSoundOutput()
    }

    @Test("A second signal ends the process at once", arguments: [SIGTERM, SIGINT])
    func secondSignal(signal: Int32) async throws {
        let (server, session, request) = try await busyServer()
        server.program.send(signal: SIGTERM)
        try await server.event("stopping")
        server.program.send(signal: signal)
        #expect(try await server.program.exitCode() == 128 + signal)
        await #expect(throws: WireConnection.EndOfStream.self) { try await request.value }
        try await session.unlockPlaces()
    }

    @Test("An idle connection doesn't hold up the end")
    func idleConnection() async throws {
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString)
        try await server.ready()
        let port = server.port
        let program = server.program
        let isClosed = try await offPool {
            let connection = try WireConnection(port: port)
            connection.sendGet("/livez")
            _ = try connection.readAnswer()
            program.send(signal: SIGTERM)
            return connection.isClosedByServer()
        }
        #expect(isClosed)
        #expect(try await program.exitCode() == 0)
    }
}

import Foundation
import Loopback
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Signals", .timeLimit(.minutes(2)))
struct SignalTests {
    /// A service with a request in flight that waits for a lock.
    private func busyServer(
        _ environment: [String: String] = [:]
    ) async throws -> (ServerProcess, DatabaseSession, Task<WireResponse, any Error>) {
        let database = try await ServiceDatabase.migrated()
        let server = try await ServerProcess.serve(
            databaseURL: database.connectionString,
            environment: environment.merging([
                "POI_INDEX": "off", "POI_DB_STATEMENT_TIMEOUT": "60s", "POI_REQUEST_TIMEOUT": "60s",
            ]) { $1 })
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
            while (try? WireClient(port: port)) != nil {}
        }
        try await session.unlockPlaces()
        let response = try await request.value
        #expect(response.status == 200)
        #expect(response.places?.count == 20)
        #expect(response.headers["connection"] == "close")
        #expect(try await server.program.exitCode() == 0)
        server.expectSoundOutput()
    }

    @Test(
        "For the drain delay the server serves, isn't ready, and closes each connection after its response")
    func drainDelay() async throws {
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString,
            environment: ["POI_DRAIN_DELAY": "60m"])
        try await server.ready()
        try await offPool { [port = server.port, program = server.program] in
            let old = try WireClient(port: port)
            old.sendGet("/readyz")
            #expect(try old.receiveResponse().status == 200)
            program.send(signal: SIGTERM)
            var readiness: WireResponse
            repeat {
                let connection = try WireClient(port: port)
                connection.sendGet("/readyz")
                readiness = try connection.receiveResponse()
            } while readiness.status == 200
            #expect(readiness.status == 503)
            #expect(readiness.problem?.code == .notReady)
            // An idle connection outlives the signal; its next response is its last, as are those on new ones.
            for connection in [old, try WireClient(port: port)] {
                connection.sendGet(secretTarget)
                let response = try connection.receiveResponse()
                #expect(response.places?.count == 20)
                #expect(response.headers["connection"] == "close")
                #expect(connection.isClosedByServer())
            }
        }
        #expect(try await get("/livez", port: server.port).status == 200)
        server.program.send(signal: SIGINT)
        #expect(try await server.program.exitCode() == 128 + SIGINT)
    }

    @Test("Clients that connect elsewhere after a Connection: close lose no request during a shutdown")
    func noLostRequest() async throws {
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString,
            // Within it each client has to send a request, to be told; on a busy machine its thread may not run for long.
            environment: ["POI_DRAIN_DELAY": "5s", "POI_LOOPS": "2"])
        try await server.ready()
        let clients = ObedientClients(port: server.port, count: 16, target: secretTarget)
        try await offPool { clients.wait(responses: 10) }
        server.program.send(signal: SIGTERM)
        let outcome = try await offPool { clients.waitForEnd() }
        #expect(outcome.lost == 0, "of \(outcome.served)")
        #expect(try await server.program.exitCode() == 0)
        server.expectSoundOutput()
    }

    @Test("An attempt to connect that hangs doesn't hold up the end")
    func hangingConnect() async throws {
        let database = try SilentListener()
        let server = try await ServerProcess.serve(
            databaseURL: "postgresql://u@127.0.0.1:\(database.port)/db?connect_timeout=3600",
            environment: ["POI_SHUTDOWN_TIMEOUT": "100ms"])
        try await offPool { database.waitForConnection() }
        let signalled = ContinuousClock.now
        #expect(try await server.stop() == 0)
        // 2 s are promised; what is asserted is only that it isn't the attempt that ends it.
        #expect(ContinuousClock.now - signalled < .seconds(60))
    }

    @Test("A request that takes longer than the shutdown time-out is cut off, and the process ends in order")
    func hardEnd() async throws {
        let (server, session, request) = try await busyServer(["POI_SHUTDOWN_TIMEOUT": "100ms"])
        server.program.send(signal: SIGTERM)
        #expect(try await server.program.exitCode() == 0)
        await #expect(throws: WireClient.EndOfStream.self) { try await request.value }
        #expect(server.program.output.text.contains(#""event":"cut-off""#))
        try await session.unlockPlaces()
    }

    @Test("A second signal ends the process at once")
    func secondSignal() async throws {
        let (server, session, request) = try await busyServer()
        server.program.send(signal: SIGTERM)
        try await server.event("stopping")
        server.program.send(signal: SIGTERM)
        #expect(try await server.program.exitCode() == 128 + SIGTERM)
        await #expect(throws: WireClient.EndOfStream.self) { try await request.value }
        try await session.unlockPlaces()
    }

    @Test("Signals that others send their programs to reopen a log or to tell its state change nothing")
    func ignored() async throws {
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString)
        try await server.ready()
        for signal in [SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE] { server.program.send(signal: signal) }
        #expect(try await get("/readyz", port: server.port).status == 200)
        try await server.finish()
        #expect(!server.program.output.text.contains("SIGHUP"))
    }

    @Test("A development server ends in order with its terminal, however often it is told")
    func hangup() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ServerProcess.dev(in: folder)
        for _ in 0..<3 { server.program.send(signal: SIGHUP) }
        #expect(try await server.program.exitCode() == 0)
        #expect(server.program.output.text.contains(#""signal":"SIGHUP""#))
        server.expectSoundOutput()
    }
}

/// Clients that send the next request as soon as they have a response, until the server has closed their connection, and
/// one more on a new connection, as a balancer does that notices late. Then they are elsewhere: who connects in the moment in
/// which the listeners close may be reset by the system.
///
/// Each is a thread; unchecked, since the condition guards the state. Its calls block, see `offPool`.
final class ObedientClients: @unchecked Sendable {
    /// How the requests of all clients fared.
    struct Outcome: Sendable {
        var served = 0
        /// Sent, without a response: the connection ended instead, though no response had announced it.
        var lost = 0
    }

    private let condition = NSCondition()
    private var outcome = Outcome()
    private var runningCount: Int

    /// Starts asking.
    init(port: Int, count: Int, target: String) {
        runningCount = count
        for _ in 0..<count { Thread { [self] in ask(target, port: port) }.start() }
    }

    /// Waits for so many more responses.
    func wait(responses: Int) {
        condition.withLock {
            let before = outcome.served
            while runningCount > 0, outcome.served - before < responses { condition.wait() }
        }
    }

    /// Waits until all clients are elsewhere.
    func waitForEnd() -> Outcome {
        condition.withLock {
            while runningCount > 0 { condition.wait() }
            return outcome
        }
    }

    private func ask(_ target: String, port: Int) {
        for _ in 0..<2 {
            guard let connection = try? WireClient(port: port) else { break }
            var isOpen = true
            while isOpen {
                connection.sendGet(target)
                let response = try? connection.receiveResponse()
                isOpen = response != nil && response?.headers["connection"] != "close"
                condition.withLock {
                    if response == nil { outcome.lost += 1 } else { outcome.served += 1 }
                    condition.broadcast()
                }
            }
        }
        condition.withLock {
            runningCount -= 1
            condition.broadcast()
        }
    }
}

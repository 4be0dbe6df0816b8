import Foundation
import Loopback
import PointsOfInterestClient
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Under a lock that stops every query", .timeLimit(.minutes(2)))
struct OverloadTests {
    /// A service on one loop, and a session that can stop its queries.
    private func start(_ environment: [String: String]) async throws -> (ServerProcess, DatabaseSession) {
        let database = try await ServiceDatabase.migrated()
        let server = try await ServerProcess.serve(
            databaseURL: database.connectionString,
            environment: environment.merging(["POI_LOOPS": "1"]) { $1 })
        try await server.ready()
        return (server, try DatabaseSession(database.connectionString))
    }

    @Test("A query that takes too long is a 504, and is cancelled in the database")
    func queryTimeout() async throws {
        let (server, session) = try await start(["POI_DB_STATEMENT_TIMEOUT": "2s"])
        try await session.lockPlaces()
        let response = try await get(secretTarget, port: server.port)
        #expect(response.status == 504)
        #expect(response.problem?.code == .queryTimeout)
        try await session.waitForNoBlockedQuery()
        #expect(try await get("/livez", port: server.port).status == 200)
        try await session.unlockPlaces()
        #expect(try await get(secretTarget, port: server.port).status == 200)
        try await server.finish()
    }

    @Test("A request beyond the limit of requests in flight gets a 503 at once, except for health")
    func inFlightLimit() async throws {
        let (server, session) = try await start([
            "POI_MAX_IN_FLIGHT": "1", "POI_DB_STATEMENT_TIMEOUT": "60s", "POI_REQUEST_TIMEOUT": "60s",
        ])
        try await session.lockPlaces()
        let first = Task { [port = server.port] in try await get(secretTarget, port: port) }
        try await session.waitForBlockedQueries()
        for _ in 0..<3 {
            let response = try await get(secretTarget, port: server.port)
            #expect(response.status == 503)
            #expect(response.problem?.code == .overloaded)
            #expect(response.headers["retry-after"] != nil)
            #expect(try await get("/livez", port: server.port).status == 200)
            #expect(try await get("/readyz", port: server.port).status == 200)
        }
        try await session.unlockPlaces()
        #expect(try await first.value.status == 200)
        #expect(try await get(secretTarget, port: server.port).status == 200)
        try await server.finish()
    }

    @Test("A request that gets no database connection in time is a 503, the others get their responses")
    func acquireTimeout() async throws {
        let (server, session) = try await start([
            "POI_DB_FAST_CONNECTIONS": "1", "POI_DB_ACQUIRE_TIMEOUT": "200ms",
            "POI_DB_STATEMENT_TIMEOUT": "60s", "POI_REQUEST_TIMEOUT": "60s",
        ])
        // From here on it is known that there are places near, so that one query in the fast lane finds them.
        #expect(try await get(secretTarget, port: server.port).status == 200)
        try await session.lockPlaces()
        // 32 queries go down one connection; the others wait for a place in vain.
        let requests = (0..<40).map { _ in
            Task { [port = server.port] in try await get(secretTarget, port: port) }
        }
        try await server.logLines(8) { $0.contains(#""status":503"#) }
        try await session.unlockPlaces()
        var responses: [WireResponse] = []
        for request in requests { responses.append(try await request.value) }
        #expect(responses.count { $0.status == 200 } == 32)
        let refused = responses.filter { $0.status != 200 }
        #expect(refused.allSatisfy { $0.problem?.code == .databaseBusy && $0.headers["retry-after"] != nil })
        try await server.finish()
    }
}

#if os(Linux)
    @Suite("Memory for clients", .serialized, .timeLimit(.minutes(2)))
    struct ClientMemoryTests {
        private static let clientCount = 2000

        /// Unchecked: made by one thread, and then handed over.
        private struct Clients: @unchecked Sendable {
            let connections: [WireClient]
        }

        /// A value of `/proc/PID/status`, in bytes (proc(5)).
        private static func memory(_ name: String, of server: ServerProcess) throws -> Int {
            let status = try String(
                contentsOfFile: "/proc/\(server.program.processID)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("\(name):") })
            return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) * 1024
        }

        /// A server that has served a request.
        private static func start() async throws -> ServerProcess {
            let server = try await ServerProcess.serve(
                databaseURL: ServiceDatabase.migrated().connectionString,
                environment: [
                    "POI_MAX_CONNECTIONS_PER_CLIENT": "\(clientCount + 10)", "POI_ACCESS_LOG": "false",
                ])
            try await server.ready()
            #expect(try await get(secretTarget, port: server.port).status == 200)
            return server
        }

        @Test(
            "Many clients that send a body without its end take little memory, and give it back",
            arguments: ["GET /livez", "POST /events", "POST /nowhere"])
        func unfinishedBodies(request: String) async throws {
            let server = try await Self.start()
            let before = try Self.memory("VmRSS", of: server)
            let head =
                "\(request) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: 1048576\r\n\r\n"
            let bytes = Array(head.utf8) + [UInt8](repeating: UInt8(ascii: " "), count: 96 << 10)
            let clients = try await offPool { [port = server.port] in
                Clients(
                    connections: try (0..<Self.clientCount).map { _ in
                        let connection = try WireClient(port: port)
                        connection.send(bytes)
                        return connection
                    })
            }
            #expect(try await get(secretTarget, port: server.port).status == 200)
            #expect(try Self.memory("VmHWM", of: server) < 150_000_000)
            let held = try #require(try await server.scrape()["poi_http_body_bytes"])
            #expect(held <= Double(8 << 20), "a client's share")
            if request == "POST /events" {
                #expect(held > 0)
            } else {
                // What waited for its turn was refused by now: nothing of it is kept.
                while try await server.scrape()["poi_http_body_bytes"] != 0 { try Task.checkCancellation() }
            }
            for connection in clients.connections { connection.close() }
            while try await server.scrape()["poi_http_connections"] != 0 {}
            #expect(try await server.scrape()["poi_http_body_bytes"] == 0)
            // What was freed goes back within seconds.
            while try Self.memory("VmRSS", of: server) > before + 50_000_000 { try Task.checkCancellation() }
            try await server.finish()
        }

        @Test(
            "Many clients that read no response take little memory, and give it back"
        )
        func unreadResponses() async throws {
            let server = try await Self.start()
            let before = try Self.memory("VmRSS", of: server)
            let bytes = Array(
                String(repeating: "GET /openapi.json HTTP/1.1\r\nHost: h\r\n\r\n", count: 400).utf8)
            let clients = try await offPool { [port = server.port] in
                Clients(
                    connections: try (0..<Self.clientCount).map { _ in
                        let connection = try WireClient(port: port, receiveBuffer: 4096)
                        connection.send(bytes)
                        return connection
                    })
            }
            #expect(try await get(secretTarget, port: server.port).status == 200)
            #expect(try Self.memory("VmHWM", of: server) < before + 60_000_000)
            for connection in clients.connections { connection.reset() }
            while try await server.scrape()["poi_http_connections"] != 0 {}
            #expect(try await server.scrape()["poi_http_body_bytes"] == 0)
            // What was freed goes back within seconds.
            while try Self.memory("VmRSS", of: server) > before + 20_000_000 { try Task.checkCancellation() }
            try await server.finish()
        }
    }
#endif

#if os(Linux)
    @Suite("File descriptors", .timeLimit(.minutes(2)))
    struct DescriptorTests {
        @Test("The soft limit is raised to the hard one, which is enough")
        func raised() async throws {
            let server = try await ServerProcess.serve(
                databaseURL: ServiceDatabase.migrated().connectionString,
                environment: ["POI_MAX_CONNECTIONS": "500", "POI_LOOPS": "1"],
                descriptorLimits: (soft: 100, hard: 2000))
            try await server.ready()
            let metrics = try await server.scrape()
            #expect(metrics["process_max_fds"] == 2000)
            #expect(metrics["poi_http_connections_limit"] == 500)
            try await server.finish()
            #expect(!server.program.output.text.contains("connections-lowered"))
        }

        @Test(
            "A server with too few file descriptors takes fewer connections, keeps its admin port, and ends in order"
        )
        func lowered() async throws {
            let server = try await ServerProcess.serve(
                databaseURL: ServiceDatabase.migrated().connectionString,
                environment: ["POI_MAX_CONNECTIONS": "1000", "POI_LOOPS": "1"],
                descriptorLimits: (soft: 200, hard: 200))
            try await server.event("connections-lowered")
            try await server.ready()
            let limit = try #require(try await server.scrape()["poi_http_connections_limit"])
            #expect(limit > 10 && limit < 100)
            let connections = try (0..<Int(limit)).map { _ in try WireClient(port: server.port) }
            while try await server.scrape()["poi_http_connections"] != limit {}
            #expect(try await get("/livez", port: server.port).status == 503, "one too many")
            #expect(try await get("/livez", port: server.adminPort()).status == 200)
            for connection in connections { connection.close() }
            while try await server.scrape()["poi_http_connections"] != 0 {}
            #expect(try await get(secretTarget, port: server.port).status == 200)
            try await server.finish()
        }

        @Test("A process that can open nothing any more still ends in order")
        func exhausted() async throws {
            let server = try await ServerProcess.serve(
                databaseURL: ServiceDatabase.migrated().connectionString, environment: ["POI_LOOPS": "1"])
            try await server.ready()
            let kept = try WireClient(port: server.port)
            kept.sendGet("/livez")
            #expect(try kept.receiveResponse().status == 200)
            let limit = try ChildProgram(
                executable: "/usr/bin/prlimit",
                arguments: ["--pid=\(server.program.processID)", "--nofile=3:3"], environment: [:])
            #expect(try await limit.exitCode() == 0)
            kept.sendGet("/livez")
            #expect(try kept.receiveResponse().status == 200)
            server.program.send(signal: SIGTERM)
            #expect(try await server.program.exitCode() == 0)
            #expect(server.program.output.text.contains(#""event":"finishing""#))
        }
    }
#endif

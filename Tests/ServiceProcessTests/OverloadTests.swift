import Foundation
import Loopback
import PointsOfInterestClient
import ServerProcess
import ServiceFixtures
import Testing

@Suite("A client with too many requests", .timeLimit(.minutes(2)))
struct OverloadTests {
    @Test("A client that sends too many requests gets a 429, counted over all loops")
    func rateLimit() async throws {
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString,
            environment: ["POI_RATE_LIMIT": "3/h", "POI_LOOPS": "2"])
        try await server.ready()
        var statuses: [Int] = []
        for _ in 0..<8 { statuses.append(try await get("/", port: server.port).status) }
        #expect(statuses == [200, 200, 200, 429, 429, 429, 429, 429])
        #expect(try await get("/livez", port: server.port).status == 200)
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
            while try await server.scrape().sum("poi_http_connections") != 0 {}
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
            while try await server.scrape().sum("poi_http_connections") != 0 {}
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
            while try await server.scrape().sum("poi_http_connections") != limit {}
            #expect(try await get("/livez", port: server.port).status == 503, "one too many")
            #expect(try await get("/livez", port: server.adminPort()).status == 200)
            for connection in connections { connection.close() }
            while try await server.scrape().sum("poi_http_connections") != 0 {}
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

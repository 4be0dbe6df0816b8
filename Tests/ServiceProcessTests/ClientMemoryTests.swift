import Foundation
import Loopback
import ServerProcess
import ServiceFixtures
import Testing

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

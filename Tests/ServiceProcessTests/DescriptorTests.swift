import Foundation
import Loopback
import ServerProcess
import ServiceFixtures
import Testing

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

import Foundation
import Loopback
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Under a service manager", .timeLimit(.minutes(2)))
struct ServiceManagerTests {
    enum Name: String, CaseIterable, Sendable {
        case path, abstract

        func make(in folder: TemporaryFolder) -> String {
            self == .path ? folder.path + "/notify" : "@poi-test-\(UUID())"
        }
    }

    @Test(
        "The service manager hears when the service is ready, not before, and when it stops",
        arguments: Name.allCases)
    func readyAndStopping(name: Name) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let socket = try NotifySocket(name: name.make(in: folder))
        let database = try await ServiceDatabase.empty()
        let server = try await ServerProcess.serve(
            databaseURL: database.connectionString, environment: ["NOTIFY_SOCKET": socket.name])
        try await server.event("migrations-missing")
        let waiting = try await offPool {
            try socket.read(upTo: "STATUS=The database lacks migrations that this version needs.")
        }
        #expect(waiting.allSatisfy { $0.hasPrefix("STATUS=") })
        #expect(try await get("/readyz", port: server.port).status == 503)

        let migration = try await PoiProgram.run(
            ["migrate", "up"], environment: ["DATABASE_URL": database.connectionString])
        #expect(migration.exitCode == 0)
        _ = try await offPool { try socket.read(upTo: "READY=1") }
        #expect(try await get("/readyz", port: server.port).status == 200)

        try await server.finish()
        let last = try await offPool { try socket.read(upTo: "STOPPING=1") }
        #expect(last.allSatisfy { !$0.contains("READY=1") }, "told once: \(last)")
    }

    @Test("The service manager hears again and again that the loops turn, if it wants to")
    func watchdog() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let socket = try NotifySocket(name: folder.path + "/notify")
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString,
            environment: ["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "100000", "POI_LOOPS": "2"])
        try await offPool { for _ in 0..<5 { _ = try socket.read(upTo: "WATCHDOG=1") } }
        try await server.finish()
    }

    @Test("The service manager gets no sign of life unless it wants one from this very process")
    func noWatchdog() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        for environment in [["WATCHDOG_USEC": "0"], ["WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"]] {
            let socket = try NotifySocket(name: folder.path + "/notify-\(environment.count)")
            let server = try await ServerProcess.serve(
                databaseURL: ServiceDatabase.migrated().connectionString,
                environment: environment.merging(["NOTIFY_SOCKET": socket.name]) { $1 })
            try await server.ready()
            try await server.finish()
            let messages = try await offPool { try socket.read(upTo: "STOPPING=1") }
            #expect(!messages.contains { $0.contains("WATCHDOG") })
        }
    }

    @Test(
        "A socket that isn't there, or a name that can't be one, doesn't keep the service from serving",
        arguments: ["/nowhere/notify", "relative", "@", "/" + String(repeating: "x", count: 200)])
    func noSocket(name: String) async throws {
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString, environment: ["NOTIFY_SOCKET": name])
        try await server.ready()
        try await server.finish()
    }
}

@Suite("A service on a Unix socket", .timeLimit(.minutes(1)))
struct UnixSocketTests {
    @Test("The service serves, is asked for its health there, and takes the socket along when it ends")
    func serves() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let host = "unix:\(folder.path)/poi.sock"
        let program = try PoiProgram.start(
            ["serve", "--host", host],
            environment: [
                "DATABASE_URL": try await ServiceDatabase.migrated().connectionString, "POI_LOOPS": "2",
                "POI_SOCKET_MODE": "0660", "POI_SOCKET_GROUP": "\(getgid())",
            ])
        _ = try await program.output.line { $0.stream == .standardOutput && $0.text == "serving \(host)" }
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/poi.sock")
        #expect(attributes[.posixPermissions] as? Int == 0o660)
        _ = try await program.output.line { $0.text.contains(#""event":"migrations-applied""#) }
        for arguments in [["healthcheck"], ["healthcheck", "--ready"]] {
            let result = try await PoiProgram.run(arguments + ["--host", host])
            #expect(result.exitCode == 0, "\(result.standardError)")
        }
        _ = try await program.output.line {
            $0.text.contains(#""path":"/readyz""#) && $0.text.contains(#""client":"unix""#)
        }
        program.send(signal: SIGTERM)
        #expect(try await program.exitCode() == 0)
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/poi.sock"))
        let result = try await PoiProgram.run(["healthcheck", "--host", host])
        #expect(result.exitCode == 1)
        #expect(result.standardError.count == 1)
    }
}

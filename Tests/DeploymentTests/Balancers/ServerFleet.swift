import Foundation
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

/// Several servers on one database, each on an address of its own that it keeps when it is started again.
///
/// All have the same port, as containers have. They are at 127.0.0.2 and on, where no other program gets a free port.
struct ServerFleet {
    /// The port of all of them.
    let port: Int
    /// The servers as they run now, by number.
    private(set) var servers: [ServerProcess]
    /// Those that have ended.
    private(set) var formerServers: [ServerProcess] = []

    /// One loop, as in a small container. Patience with the database, since a machine that is busy with other things
    /// is no failure of a deployment; together still less than the balancers' 10 s.
    private static let settings = [
        "POI_LOOPS": "1", "POI_DB_ACQUIRE_TIMEOUT": "5s", "POI_DB_STATEMENT_TIMEOUT": "4s",
        "POI_REQUEST_TIMEOUT": "9s",
    ]

    private let databaseURL: String
    private let settings: [String: String]
    /// The migrations that a server which starts relies on, where they aren't the package's.
    private var migrations: TemporaryFolder?

    /// Starts servers, and waits until they are ready.
    ///
    /// - Parameter databaseURL: a migrated database; without it a new one, which has the seeds.
    init(count: Int, databaseURL: String? = nil, settings: [String: String] = [:]) async throws {
        let databaseURL =
            if let databaseURL { databaseURL } else {
                try await ServiceDatabase.migrated().connectionString
            }
        self.databaseURL = databaseURL
        self.settings = settings.merging(Self.settings) { given, _ in given }
        let first = try await ServerProcess.serve(
            databaseURL: databaseURL, host: Self.host(0), environment: self.settings)
        servers = [first]
        port = first.port
        for index in 1..<count { servers.append(try await started(index)) }
        for server in servers { try await server.ready() }
    }

    /// The address of a server.
    static func host(_ index: Int) -> String { "127.0.0.\(index + 2)" }

    /// The addresses of all servers.
    var hosts: [String] { servers.indices.map(Self.host) }

    private func started(_ index: Int) async throws -> ServerProcess {
        var environment = settings
        if let migrations { environment["POI_MIGRATIONS_DIR"] = migrations.path + "/Migrations" }
        return try await ServerProcess.serve(
            databaseURL: databaseURL, host: Self.host(index), port: port, environment: environment)
    }

    /// Ends a server in order, starts it again, and waits until it serves places again.
    mutating func restart(_ index: Int) async throws {
        let exitCode = try await servers[index].stop()
        #expect(exitCode == 0)
        try await startAgain(index)
    }

    /// Starts a server that has ended, and waits until it serves places.
    mutating func startAgain(_ index: Int) async throws {
        formerServers.append(servers[index])
        servers[index] = try await started(index)
        try await servers[index].servesPlaces()
    }

    /// Kills a server, and starts it again: it need not be ready when this returns.
    mutating func kill(_ index: Int) async throws {
        servers[index].program.send(signal: SIGKILL)
        _ = try await servers[index].program.exitCode()
        formerServers.append(servers[index])
        servers[index] = try await started(index)
    }

    /// Applies one more migration, which every server that starts from now on relies on.
    mutating func migrate(adding name: String, _ sql: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/Migrations"
        try FileManager.default.copyItem(
            atPath: PoiProgram.migrations.path(percentEncoded: false), toPath: path)
        try sql.write(toFile: "\(path)/\(name).sql", atomically: true, encoding: .utf8)
        let result = try await PoiProgram.run(
            ["migrate", "up"], environment: ["DATABASE_URL": databaseURL, "POI_MIGRATIONS_DIR": path])
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.standardOutput.contains { $0.contains(name) }, "\(result)")
        migrations = folder
    }

    /// Ends all servers in order, and checks their output: no sign of a crash, and no coordinates of a request.
    func finish() async throws {
        for server in servers { #expect(try await server.stop() == 0) }
        migrations?.remove()
        for server in formerServers + servers { #expect(server.program.output.unsoundLines.isEmpty) }
    }
}

extension ServerProcess {
    /// Waits until it has served so many requests for places.
    func servesPlaces(_ count: Int = 1) async throws {
        try await logLines(count) { $0.contains(#""path":"/locations""#) && $0.contains(#""status":200"#) }
    }
}

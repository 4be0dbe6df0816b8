import Foundation
import Loopback
import PointsOfInterestClient
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

/// A pooler in transaction mode: each transaction may meet another backend, none has our settings, and nobody
/// hears a notification.
@Suite("Behind PgBouncer", .serialized, .timeLimit(.minutes(5)))
struct PoolerTests {
    /// It refuses the start-up parameter `options` unless told to ignore it.
    private static let treatments: [[String]] = [[], ["ignore_startup_parameters = options"]]
    private static let targets = [
        secretTarget, "/locations?lat=37.3&long=-121.9&featured=true", "/locations?ids=1,84",
        "/locations?lat=-37&long=58&category=park,cafe", "/locations/84", "/categories",
    ]

    @Test(
        "What PostgreSQL is asked for each request is answered under load over two backends",
        arguments: treatments)
    func responses(settings: [String]) async throws {
        let database = try await ServiceDatabase.migrated()
        let pooler = try await PgBouncer(
            database.cluster, database: database.name, backends: 2, settings: settings)
        // Two backends of a busy machine may be slow: only a response that never comes is a failure here.
        let patience = [
            "POI_DB_ACQUIRE_TIMEOUT": "30s", "POI_DB_STATEMENT_TIMEOUT": "30s", "POI_REQUEST_TIMEOUT": "60s",
        ]
        let pooled = try await ServerProcess.serve(
            databaseURL: pooler.connectionString, environment: ["POI_INDEX": "off"].merging(patience) { $1 })
        let direct = try await ServerProcess.serve(databaseURL: database.connectionString)
        for server in [pooled, direct] { try await server.ready() }
        for target in Self.targets {
            let (response, reference) = try await (
                get(target, port: pooled.port), get(target, port: direct.port)
            )
            #expect(response.status == 200)
            #expect(response.body == reference.body, "\(target)")
            #expect(response.headers["etag"] == reference.headers["etag"])
        }
        let outcomes = try await offPool { [port = pooled.port] in
            let loads = Self.targets.map { Load(port: port, connections: 3, target: $0) }
            for load in loads { load.wait(successes: 1) }
            return loads.flatMap { $0.stop() }.flatMap(\.self)
        }
        #expect(outcomes.count >= 3 * Self.targets.count)
        let failure = outcomes.first { !$0.isSuccess }
        if let failure { Issue.record("\(failure)") }
        for server in [pooled, direct] { #expect(try await server.stop() == 0) }
        try await pooler.stop()
    }

    @Test("A query that takes too long is a 504 in time, and ends in the database too")
    func timeouts() async throws {
        let database = try await ServiceDatabase.migrated()
        let pooler = try await PgBouncer(database.cluster, database: database.name, backends: 20)
        let server = try await ServerProcess.serve(
            databaseURL: pooler.connectionString, environment: ["POI_INDEX": "off", "POI_LOOPS": "1"])
        try await server.ready()
        let session = try DatabaseSession(database.connectionString)
        try await session.lockPlaces()
        let start = ContinuousClock.now
        let response = try await get(secretTarget, port: server.port)
        #expect(response.status == 504)
        #expect(response.problem?.code == .queryTimeout)
        #expect(ContinuousClock.now - start < .seconds(4))
        try await session.waitForNoBlockedQuery()
        try await session.unlockPlaces()
        #expect(try await get(secretTarget, port: server.port).status == 200)
        #expect(try await server.stop() == 0)
        try await pooler.stop()
    }

    @Test(
        "Places are read, and a change is followed although PgBouncer passes no notification on",
        arguments: treatments)
    func changes(settings: [String]) async throws {
        let database = try await ServiceDatabase.migrated()
        let pooler = try await PgBouncer(
            database.cluster, database: database.name, backends: 2, settings: settings)
        let server = try await ServerProcess.serve(databaseURL: pooler.connectionString)
        try await server.ready()
        try await offPool { _ = try database.execute("UPDATE locations SET name = 'Renamed' WHERE id = 1") }
        while !String(decoding: try await get("/locations/1", port: server.port).body, as: UTF8.self)
            .contains(#""name":"Renamed""#)
        { try Task.checkCancellation() }
        #expect(try await server.stop() == 0)
        try await pooler.stop()
    }
}

/// What commands do behind a pooler, which gives the next client a session as it was left.
@Suite("Commands through PgBouncer", .serialized, .timeLimit(.minutes(2)))
struct PooledCommandTests {
    @Test(
        "A run of migrations is refused in either mode, whatever a setting says of poolers, and leaves nothing behind",
        arguments: ["transaction", "session"])
    func migrations(mode: String) async throws {
        let database = try await ServiceDatabase.empty()
        let pooler = try await PgBouncer(
            database.cluster, database: database.name, backends: 2, settings: ["pool_mode = \(mode)"])
        for prepared in ["auto", "on"] {
            let result = try await PoiProgram.run(
                ["migrate", "up"],
                environment: ["DATABASE_URL": pooler.connectionString, "POI_DB_PREPARED": prepared])
            #expect(result.exitCode == 1)
            #expect(result.standardError.map { $0.contains("through a pooler") } == [true], "\(result)")
        }
        let direct = ["DATABASE_URL": database.connectionString]
        let status = try await PoiProgram.run(["migrate", "status"], environment: direct)
        #expect(status.standardOutput.last?.hasPrefix("0 applied") == true)
        #expect(try await PoiProgram.run(["migrate", "up"], environment: direct).exitCode == 0)
        // What only reads may come through it.
        let validated = try await PoiProgram.run(
            ["migrate", "validate"], environment: ["DATABASE_URL": pooler.connectionString])
        #expect(validated.exitCode == 0, "\(validated)")
        try await pooler.stop()
    }

    @Test("An import leaves neither a lock nor a setting in a session that others get after it")
    func imports() async throws {
        let database = try await ServiceDatabase.migrated()
        let pooler = try await PgBouncer(database.cluster, database: database.name, backends: 1)
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = folder.path + "/places.csv"
        try Data("id,name,category,latitude,longitude\n1,A,cafe,1,1\n".utf8).write(to: URL(filePath: file))
        let result = try await PoiProgram.run(
            ["import", file, "--dataset", "test", "--license", "CC0-1.0"],
            environment: ["DATABASE_URL": pooler.connectionString])
        #expect(result.exitCode == 0, "\(result)")
        let next = try DatabaseSession(pooler.connectionString)
        let left = """
            SELECT name FROM pg_settings WHERE source = 'session' AND name LIKE '%timeout'
            UNION ALL SELECT locktype FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'
            """
        #expect(try await next.run(left) == [])
        try await pooler.stop()
    }
}

/// A PgBouncer in transaction mode in front of a cluster's database, on a Unix socket of its own.
struct PgBouncer {
    let program: ChildProgram
    private let folder: TemporaryFolder
    private let database: String

    private static let port = 6432

    /// Starts it, and waits until it takes connections.
    ///
    /// - Parameters:
    ///   - backends: how many connections to the database all clients share.
    ///   - settings: further lines of its configuration.
    init(_ cluster: PrivateCluster, database: String, backends: Int, settings: [String] = []) async throws {
        self.database = database
        folder = try TemporaryFolder(permissions: 0o777)
        let lines =
            [
                "[databases]",
                "\(database) = host=\(try cluster.socketFolder()) dbname=\(database) user=postgres",
                "[pgbouncer]", "unix_socket_dir = \(folder.path)", "unix_socket_mode = 0777",
                "listen_port = \(Self.port)", "auth_type = any", "pool_mode = transaction",
                "default_pool_size = \(backends)", "max_client_conn = 200", "log_connections = 0",
                "log_disconnections = 0",
            ] + settings
        let file = folder.path + "/pgbouncer.ini"
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: file))
        // It refuses to run as root; the cluster's socket is open to the cluster's user.
        let user = ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"]
        program = try ChildProgram(
            executable: "/bin/sh",
            arguments: ["-c", Self.supervisor, "supervisor"] + (geteuid() == 0 ? user : [])
                + ["/usr/sbin/pgbouncer", file],
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
        _ = try await program.output.line { $0.text.contains("process up") }
    }

    /// A libpq URI of the database through it.
    var connectionString: String {
        "postgresql://postgres@/\(database)?host=\(folder.path)&port=\(Self.port)"
    }

    /// Ends it and removes what it had.
    func stop() async throws {
        program.send(signal: SIGINT)
        _ = try await program.exitCode()
        folder.remove()
    }

    /// Becomes the program; what stays behind ends it with this process, as in `PoiProgram`.
    private static let supervisor = """
        exec 3<&0 </dev/null
        ( read -r _ <&3 || kill -s KILL $$ ) >/dev/null 2>&1 &
        exec "$@" 3<&-
        """
}

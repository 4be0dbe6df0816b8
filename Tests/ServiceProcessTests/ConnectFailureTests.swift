import Foundation
import Loopback
import PointsOfInterestClient
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

/// A database that lets in whom it should: by passwords, over TCP, without TLS.
private struct GuardedDatabase: Sendable {
    static let password = "right-horse-battery"

    let cluster: PrivateCluster
    let port: Int

    private static let shared = Task { try await offPool { try GuardedDatabase() } }

    static func get() async throws -> GuardedDatabase { try await shared.value }

    private init() throws {
        port = try FreePort.choose()
        cluster = PrivateCluster(ephemeralWith: ["listen_addresses": "127.0.0.1", "port": "\(port)"])
        try cluster.start()
        try cluster.createDatabase("places")
        for role in ["poi", "crowded", "poi_events"] {
            try cluster.execute("CREATE ROLE \(role) LOGIN PASSWORD '\(Self.password)'")
        }
        // None at all: with one, either pool may be the one that gets it and never fails.
        try cluster.execute("ALTER ROLE crowded CONNECTION LIMIT 0")
        try cluster.execute("GRANT ALL ON SCHEMA public TO poi", database: "places")
        let file = try cluster.execute("SHOW hba_file")
        try cluster.execute(
            """
            COPY (VALUES ('local all all trust'), ('host all all 127.0.0.1/32 scram-sha-256')) TO '\(file)';
            SELECT pg_reload_conf()
            """)
        // The postmaster takes note of it in its own time, and then says what it has read.
        while try cluster.execute("SELECT count(*) FROM pg_hba_file_rules WHERE auth_method = 'trust'") != "1"
        {}
        while try isTrusting() {}
    }

    private func isTrusting() throws -> Bool {
        (try? cluster.execute(
            "COPY (SELECT) TO PROGRAM 'PGPASSWORD=wrong psql -w -h 127.0.0.1 -p \(port) -U poi -c \"\" places'"
        )) != nil
    }

    func url(
        role: String = "poi", password: String = password, host: String = "127.0.0.1", port: Int? = nil,
        database: String = "places", options: String = ""
    ) -> String {
        "postgresql://\(role):\(password)@\(host):\(port ?? self.port)/\(database)?connect_timeout=10\(options)"
    }
}

@Suite("A database that can't be reached", .timeLimit(.minutes(3)))
struct ConnectFailureTests {
    /// A way to fail, its kind in log and metrics, and the message of libpq or the server.
    struct Cause: Sendable, CustomTestStringConvertible {
        let reason: String
        let words: String
        fileprivate let url: @Sendable (GuardedDatabase) -> String

        var testDescription: String { reason }
    }

    static let causes = [
        Cause(reason: "authentication", words: "password authentication failed for user") {
            $0.url(password: "wrong-horse-battery")
        },
        Cause(reason: "missing-database", words: "nowhere") { $0.url(database: "nowhere") },
        Cause(reason: "too-many-connections", words: "too many connections for role") {
            $0.url(role: "crowded")
        },
        Cause(reason: "unknown-host", words: "could not translate host name") {
            $0.url(host: "no-such-host.invalid")
        },
        Cause(reason: "refused", words: "Connection refused") { $0.url(port: 1) },
        Cause(reason: "tls", words: "does not support SSL, but SSL was required") {
            $0.url(options: "&sslmode=verify-full&sslrootcert=/nonexistent/ca.pem")
        },
    ]

    @Test(
        "The log has the cause once, the metrics count it by kind, and neither has the password",
        arguments: causes)
    func serving(cause: Cause) async throws {
        let database = try await GuardedDatabase.get()
        let server = try await ServerProcess.serve(
            databaseURL: cause.url(database), environment: ["POI_LOOPS": "1"])
        let line = try await server.program.output.line {
            $0.text.contains(#""event":"database-connect-failed""#)
        }
        #expect(line.text.contains(#""reason":"\#(cause.reason)""#), "\(line)")
        #expect(line.text.contains(cause.words), "\(line)")
        #expect(line.text.contains(#""database":""#), "\(line)")
        let unreachable = try await server.program.output.line {
            $0.text.contains(#""event":"database-unreachable""#)
        }
        #expect(unreachable.text.contains(cause.words), "\(unreachable)")
        // Every connection is tried again and again, but the log says so only once.
        let labels = [#"database="events""#, #"reason="\#(cause.reason)""#]
        while try await server.scrape().sum("poi_db_pool_connect_failures_total", labels[0], labels[1]) < 5 {
            try Task.checkCancellation()
        }
        let lines = server.program.output.lines.filter {
            $0.text.contains(#""event":"database-connect-failed""#)
        }
        for database in ["places", "events"] {
            #expect(lines.count { $0.text.contains(#""database":"\#(database)""#) } <= 1, "\(lines)")
        }
        try await server.finish()
        #expect(!server.program.output.text.contains("horse"))
    }

    @Test("A command prints the cause in one line, without the password", arguments: causes.prefix(2))
    func commands(cause: Cause) async throws {
        let database = try await GuardedDatabase.get()
        for arguments in [
            ["migrate", "status"], ["events", "maintain"], ["events", "export", "--since", "2026-01-01"],
        ] {
            let result = try await PoiProgram.run(
                arguments, environment: ["DATABASE_URL": cause.url(database)])
            #expect(result.exitCode == 1, "\(arguments)")
            #expect(result.standardError.count == 1, "\(result)")
            let text = (result.standardError + result.standardOutput).joined()
            #expect(text.contains(cause.words), "\(text)")
            #expect(!text.contains("horse"))
        }
    }

    @Test("A failure of the events' own database is reported by its name, and leaves the server ready")
    func eventsDatabase() async throws {
        let guarded = try await GuardedDatabase.get()
        let places = try await ServiceDatabase.migrated()
        let server = try await ServerProcess.serve(
            databaseURL: places.connectionString,
            environment: [
                "POI_LOOPS": "1",
                "POI_EVENTS_DATABASE_URL": guarded.url(
                    role: "poi_events", password: "wrong-horse-battery"),
                "POI_READY_REQUIRES_DATABASE": "true",
            ])
        try await server.ready()
        for event in ["database-connect-failed", "database-unreachable"] {
            let line = try await server.program.output.line { $0.text.contains(#""event":"\#(event)""#) }
            #expect(line.text.contains(#""database":"events""#), "\(line)")
            #expect(line.text.contains("password authentication failed"), "\(line)")
        }
        let ready = try await get("/readyz", port: server.port)
        #expect(ready.status == 200)
        let body = String(decoding: ready.body, as: UTF8.self)
        #expect(body.hasSuffix(#""database":"reachable","eventsDatabase":"unreachable"}"#))
        let metrics = try await server.scrape()
        #expect(metrics[#"poi_database_reachable{database="places"}"#] == 1)
        #expect(metrics[#"poi_database_reachable{database="events"}"#] == 0)
        #expect(
            metrics.sum(
                "poi_db_pool_connect_failures_total", #"database="events""#, #"reason="authentication""#) > 0)
        #expect(metrics.sum("poi_db_pool_connect_failures_total", #"database="places""#) == 0)
        #expect(metrics["poi_events_partition_left_seconds"] == nil)

        let count = server.program.output.lines.count
        _ = try await offPool {
            try guarded.cluster.execute("ALTER ROLE poi_events PASSWORD 'wrong-horse-battery'")
        }
        try await server.event("database-reachable", after: count)
        #expect(try await server.scrape()[#"poi_database_reachable{database="events"}"#] == 1)
        try await server.finish()
        #expect(!server.program.output.text.contains("horse"))
    }
}

import EventLoop
import Loopback
import PrivateCluster
import Testing

@testable import Postgres

@Suite("Causes of failed connections", .timeLimit(.minutes(1)))
struct ConnectFailureTests {
    @Test(
        "The kind of a failure is read from the messages of libpq, PostgreSQL and PgBouncer",
        arguments: [
            (
                "FATAL:  password authentication failed for user \"certificate\"",
                ConnectFailure.authentication
            ),
            ("fe_sendauth: no password supplied", .authentication),
            ("FATAL:  no pg_hba.conf entry for host \"::1\", user \"u\", no encryption", .authentication),
            ("FATAL:  role \"u\" does not exist", .authentication),
            ("FATAL:  database \"d\" does not exist", .missingDatabase),
            ("FATAL:  no such database: d", .missingDatabase),
            ("FATAL:  sorry, too many clients already", .tooManyConnections),
            ("FATAL:  no more connections allowed (max_client_conn)", .tooManyConnections),
            ("root certificate file \"/ca.pem\" does not exist\nEither provide the file", .tls),
            ("FATAL:  the database system is starting up", .starting),
            ("session is read-only", .wrongServer),
            ("could not translate host name \"h\" to address: Name or service not known", .unknownHost),
            ("No route to host\n\tIs the server running on that host", .unreachable),
            ("timeout expired", .timeout),
            ("Connection refused\n\tIs the server running", .refused),
            (
                "connection A failed: Connection refused\nconnection B failed: FATAL:  database \"d\"",
                .missingDatabase
            ),
            ("FATAL:  das ist neu", .other), ("", .other),
        ])
    func kinds(message: String, kind: ConnectFailure) throws {
        let line = try PostgresConfiguration(conninfo: "host=h").logLine(message)
        #expect(!line.contains("\n"))
        #expect(ConnectFailure(sqlState: nil, text: line) == kind)
    }

    @Test("The code of a server's error decides its kind before its text does")
    func codes() {
        let codes = [
            ("28P01", ConnectFailure.authentication), ("3D000", .missingDatabase), ("57P03", .starting),
        ]
        for (code, kind) in codes {
            #expect(ConnectFailure(sqlState: SQLState(rawValue: code), text: "timeout expired") == kind)
        }
        #expect(ConnectFailure(sqlState: SQLState(rawValue: "08P01"), text: "timeout expired") == .timeout)
    }

    @Test("No password gets into a message, whoever quotes it")
    func secrets() throws {
        let configuration = try PostgresConfiguration(
            conninfo: "postgresql://u:hunter%402@h/d?sslpassword=open-sesame")
        #expect(configuration.logLine("no \"hunter@2\"\n\tnor open-sesame\nhere") == "no \"…\" nor …; here")
        // With a combining mark behind it, the last letter is another character.
        #expect(configuration.logLine("hunter@2\u{301}") == "…\u{301}")
    }

    @Test(
        "A password that is an ordinary word is hidden only where a connection string has it",
        arguments: [
            "connection", "server", "timeout", "expired", "Connection refused", "5432", "127.0.0.1",
            "poi_serve1", "pg_hba.conf", "h", "to",
        ])
    func ordinaryPasswords(password: String) throws {
        let configuration = try PostgresConfiguration(
            conninfo: "host=h user=poi_serve1 password='\(password)' dbname=d")
        let message =
            "connection to server at \"h\" (127.0.0.1), port 5432 failed: FATAL: no pg_hba.conf entry for user "
            + "\"poi_serve1\"; timeout expired; Connection refused"
        #expect(configuration.logLine(message) == message)
        #expect(
            configuration.logLine("in password=\(password) and postgresql://u:\(password)@h/d")
                == "in password=… and postgresql://u:…@h/d")
    }

    @Test("The kind of a failure is read from the message before the password is removed")
    func kindBeforeRedaction() async throws {
        let error = PostgresError(
            .connectionFailed, clientMessage: "no pg_hba.conf entry for host\n\tand more\nFATAL:  it is new")
        let configuration = try PostgresConfiguration(conninfo: "host=h password='pg_hba.conf entry'")
        let redacted = error.redacted(by: configuration)
        #expect(redacted.clientMessage == "no … for host and more; FATAL: it is new")
        #expect(redacted.connectFailure == .authentication)
        let nobody = try await onLoop { loop in
            let configuration = try PostgresConfiguration(
                conninfo: "host=/nonexistent password='No such file' sslpassword='such file 0r directory'")
            return await #expect(throws: PostgresError.self) {
                _ = try await PostgresConnection.connect(configuration, loop: loop)
            }
        }
        #expect(nobody?.connectFailure == .refused)
        #expect(nobody?.serverMessage?.contains("No such file or directory") == true)
    }

    @Test(
        "A URI whose password isn't percent-encoded is refused",
        arguments: [
            ("postgresql://u:p@ss@h/d", false), ("postgres://u:p@s/s@h/d", false),
            ("postgresql://u:1/2@h", false),
            ("postgresql://u:p%40ss@h/d?options=-c%20a%3Db@c", true), ("host=h password=p@s@s", true),
            ("postgresql:///d?host=@abstract", true), ("postgresql://u:p@\u{301}s@h/d", false),
            ("postgresql://\u{301}u:p@ss@h/d", false), ("postgresql://u:p@s/\u{301}s@h", false),
        ])
    func strayAt(conninfo: String, isTaken: Bool) {
        #expect(((try? PostgresConfiguration(conninfo: conninfo)) != nil) == isTaken)
    }

    @Test("A server without free connections is reported as such, and counted by kind")
    func fullServer() async throws {
        let cluster = PrivateCluster(ephemeralWith: [
            "max_connections": "4", "superuser_reserved_connections": "0", "max_wal_senders": "0",
        ])
        try cluster.start()
        defer { cluster.stop() }
        try await withPool(cluster.connectionString(), { $0.connections = 8 }) { pool in
            await pool.waitUntilTried()
            let statistics = pool.statistics
            #expect(statistics.connections <= 4)
            let failures = statistics.connectFailures[.tooManyConnections] ?? 0
            #expect(failures >= 4 && failures == statistics.failedConnects)
        }
    }

    @Test("A query that gets no connection fails with the cause")
    func unavailable() async throws {
        try await withPool("host=/nonexistent", { $0.acquireTimeout = .milliseconds(100) }) { pool in
            await pool.waitUntilTried()
            let error = await #expect(throws: PostgresError.self) { try await pool.query("SELECT 1") }
            #expect(error?.code == .unavailable)
            #expect(error?.serverMessage?.contains("/nonexistent") == true)
            #expect(pool.statistics.connectFailures[.refused] ?? 0 > 0)
        }
    }
}

@Suite("Connecting", .timeLimit(.minutes(1)))
struct ConnectingTests {
    @Test("Connecting to a host that accepts and never responds fails at the connect timeout")
    func silentHost() async throws {
        let listener = try SilentListener()
        let conninfo = "host=127.0.0.1 port=\(listener.port) user=u dbname=d connect_timeout=2"
        try await onLoop { loop in
            let configuration = try PostgresConfiguration(conninfo: conninfo)
            let error = await #expect(throws: PostgresError.self) {
                _ = try await PostgresConnection.connect(configuration, loop: loop)
            }
            #expect(error?.connectFailure == .timeout)
        }
    }

    @Test("The loop turns while a host doesn't answer")
    func loopTurns() async throws {
        let listener = try SilentListener()
        let conninfo = "host=127.0.0.1 port=\(listener.port) user=u dbname=d connect_timeout=3600"
        try await onLoop { loop in
            let configuration = try PostgresConfiguration(conninfo: conninfo)
            let task = Task(executorPreference: loop) {
                await code { try await PostgresConnection.connect(configuration, loop: loop) }
            }
            #expect(try await loop.submit { 7 } == 7)
            listener.resetConnections()
            #expect(await task.value == .connectionFailed)
        }
    }

    @Test("Connecting without a server is a typed error, whose description leaves out libpq's message")
    func nobody() async throws {
        try await onLoop { loop in
            let configuration = try PostgresConfiguration(conninfo: "host=/nonexistent user=hunter2")
            let error = await #expect(throws: PostgresError.self) {
                _ = try await PostgresConnection.connect(configuration, loop: loop)
            }
            #expect(error?.code == .connectionFailed)
            #expect(error?.serverMessage?.contains("/nonexistent") == true)
            #expect(error.map { "\($0)" } == "PostgreSQL: connectionFailed")
        }
    }
}

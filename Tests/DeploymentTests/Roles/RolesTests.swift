import Foundation
import Loopback
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("The roles of deploy/postgres", .timeLimit(.minutes(5)))
struct RolesTests {
    /// For the tests that change no right.
    private static let shared = Task {
        let database = try await PreparedDatabase()
        try await database.migrate()
        return database
    }

    /// Requests of every route, and for every kind of statement of the store.
    private static let targets = [
        "/", "/openapi.json", "/problems", "/problems/not-found", "/livez", "/readyz", "/categories",
        "/locations/1", secretTarget, secretTarget + "&radius=900&category=cafe",
        secretTarget + "&q=museum", "/locations?bbox=-122,37,-121,38",
        secretTarget + "&featured=true&limit=100",
    ]

    @Test(
        "The service runs with three unprivileged roles, and doesn't need the migrating one after the migration"
    )
    func everyRouteResponds() async throws {
        let database = try await PreparedDatabase()
        defer { database.cluster.stop() }
        try await database.migrate()
        // From here on the servers are on their own.
        try await database.execute("ALTER ROLE poi_migrate NOLOGIN")

        let server = try await ServerProcess.serve(
            databaseURL: await database.url("poi_serve"), environment: ["POI_DB_LISTEN": "on"])
        try await server.ready()
        for target in Self.targets {
            let response = try await get(target, port: server.port)
            #expect(response.status == 200, "\(target): \(String(decoding: response.body, as: UTF8.self))")
        }
        try await noticesChange(server, database)
        #expect(try await server.stop() == 0)
        #expect(server.program.output.unsoundLines == [])
    }

    /// A response counts as current until the server hears of a change by LISTEN, which the role must be allowed.
    private func noticesChange(_ server: ServerProcess, _ database: PreparedDatabase) async throws {
        let tag = try #require(await get("/categories", port: server.port).headers["etag"])
        try await database.execute("UPDATE locations SET name = 'Renamed' WHERE id = 1")
        var status = 304
        while status == 304 {
            status = try await offPool {
                let connection = try WireClient(port: server.port)
                connection.send(
                    "GET /categories HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \(tag)\r\n\r\n")
                return try connection.receiveResponse().status
            }
        }
        #expect(status == 200)
        let place = try await get("/locations/1", port: server.port)
        #expect(String(decoding: place.body, as: UTF8.self).contains(#""name":"Renamed""#))
    }

    @Test("The serving role is refused every change, by what it may and not only by its default")
    func servingRoleIsReadOnly() async throws {
        let database = try await Self.shared.value
        for change in [
            "INSERT INTO locations (name, category, latitude, longitude) VALUES ('x', 'cafe', 0, 0)",
            "UPDATE locations SET name = 'x'", "DELETE FROM locations", "TRUNCATE locations",
            "DELETE FROM dataset_changes", "INSERT INTO schema_migrations VALUES ('9999')",
            "DELETE FROM dataset_log", "DROP TABLE locations", "ALTER TABLE locations ADD x integer",
            "CREATE TABLE x ()", "CREATE TEMPORARY TABLE x ()", "CREATE SCHEMA x", "CREATE ROLE x",
            "SET ROLE poi_migrate", "SET ROLE poi_events", "COPY locations TO PROGRAM 'true'",
            "CREATE FUNCTION x() RETURNS integer LANGUAGE sql RETURN 1",
        ] {
            let refusal = try await database.refusal(of: change, to: "poi_serve")
            #expect(
                refusal?.contains(/permission denied|must be owner|must be superuser/) == true,
                "\(change): \(refusal ?? "allowed")")
        }
        #expect(try await database.refusal(of: "SELECT FROM locations", to: "poi_serve") == nil)
        let readOnly = try await database.execute(
            """
            SELECT unnest(setconfig) FROM pg_db_role_setting JOIN pg_roles ON pg_roles.oid = setrole
            WHERE rolname = 'poi_serve'
            """)
        #expect(readOnly.contains("default_transaction_read_only=on"))
    }

    @Test("The role for events sees no places, and the migrating role is no superuser")
    func otherRolesAreLimited() async throws {
        let database = try await Self.shared.value
        for statement in [
            "SELECT FROM locations", "SELECT FROM dataset", "INSERT INTO categories (name) VALUES ('x')",
            "DELETE FROM schema_migrations", "CREATE TABLE x ()", "SET ROLE poi_serve",
        ] {
            let refusal = try await database.refusal(of: statement, to: "poi_events")
            #expect(
                refusal?.contains("permission denied") == true, "\(statement): \(refusal ?? "allowed")")
        }
        let privileged = try await database.execute(
            """
            SELECT rolname FROM pg_roles WHERE rolname LIKE 'poi\\_%'
            AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)
            """)
        #expect(privileged == "")
        #expect(try await database.refusal(of: "CREATE DATABASE x", to: "poi_migrate") != nil)
    }

    @Test("Tables of a later migration can be served without another grant")
    func laterMigrations() async throws {
        let database = try await Self.shared.value
        try await database.execute("SET SESSION AUTHORIZATION poi_migrate; CREATE TABLE opening_hours ()")
        #expect(try await database.refusal(of: "SELECT FROM opening_hours", to: "poi_serve") == nil)
        #expect(try await database.refusal(of: "SELECT FROM opening_hours", to: "poi_events") != nil)
    }

    @Test("The script may be repeated: passwords are changed where they are given, rights stay as they are")
    func repeats() async throws {
        let database = try await PreparedDatabase()
        defer { database.cluster.stop() }
        try await database.migrate()
        let before = try await rights(in: database)
        #expect(try await passwords(in: database) == ["poi_events|", "poi_migrate|", "poi_serve|"])
        try await database.prepare(passwords: #"\set serve_password 'it''s "one"'"# + "\n")
        let first = try await passwords(in: database)
        #expect(first.filter { $0.contains("SCRAM-SHA-256$") }.map { $0.prefix(9) } == ["poi_serve"])
        try await database.prepare()
        #expect(try await passwords(in: database) == first)
        #expect(try await rights(in: database) == before)
    }

    private func rights(in database: PreparedDatabase) async throws -> String {
        try await database.execute(
            """
            SELECT relname, relowner::regrole, relacl FROM pg_class WHERE relnamespace = 'public'::regnamespace
            ORDER BY relname
            """)
    }

    private func passwords(in database: PreparedDatabase) async throws -> [String] {
        try await database.execute(
            "SELECT rolname, rolpassword FROM pg_authid WHERE rolname LIKE 'poi\\_%' ORDER BY rolname"
        ).split(separator: "\n").map(String.init)
    }
}

@Suite("The role that adds events", .timeLimit(.minutes(5)))
struct EventsRoleTests {
    private static let insert = """
        INSERT INTO events (id, time, user_id, name) VALUES (gen_random_uuid(), now(), 'u', 'n') \
        ON CONFLICT DO NOTHING RETURNING id, time
        """

    @Test("The role for events adds events and reads only their ids; the serving role reads none at all")
    func addsOnly() async throws {
        let database = try await PreparedDatabase()
        defer { database.cluster.stop() }
        try await database.migrate()
        try await checkRights(in: database)

        // Partitions of later months, and the script once more, give nothing away.
        let made = try await database.execute(
            "SET SESSION AUTHORIZATION poi_migrate; SELECT make_events_partition('2100-01-15')")
        #expect(made == "made")
        try await database.prepare()
        try await checkRights(in: database)
    }

    private func checkRights(in database: PreparedDatabase) async throws {
        #expect(try await database.refusal(of: Self.insert, to: "poi_events") == nil)
        for statement in [
            "SELECT user_id FROM events", "SELECT value FROM events", "UPDATE events SET name = 'x'",
            "DELETE FROM events", "TRUNCATE events", "DROP TABLE events_default",
            "INSERT INTO events_default (id, time, user_id, name) VALUES (gen_random_uuid(), now(), 'u', 'n')",
        ] {
            try await expectRefusal(of: statement, to: "poi_events", in: database)
        }
        try await expectRefusal(of: Self.insert, to: "poi_serve", in: database)
        let tables = try await database.execute("SELECT relid::regclass FROM pg_partition_tree('events')")
        for table in tables.split(separator: "\n") {
            try await expectRefusal(of: "SELECT id FROM \(table)", to: "poi_serve", in: database)
        }
    }

    private func expectRefusal(
        of statement: String, to role: String, in database: PreparedDatabase
    ) async throws {
        let refusal = try await database.refusal(of: statement, to: role)
        #expect(
            refusal?.contains(/permission denied|must be owner/) == true,
            "\(role): \(statement): \(refusal ?? "allowed")")
    }
}

@Suite("The database's log with deploy/postgres", .timeLimit(.minutes(5)))
struct DatabaseLogTests {
    @Test("Slow, failed and cancelled statements are in the database's log, without coordinates")
    func noCoordinates() async throws {
        // Every statement is slow.
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let database = try await PreparedDatabase(
            in: folder, settings: ["log_min_duration_statement": "0", "fsync": "off"])
        defer { database.cluster.stop() }
        try await database.migrate()
        let server = try await ServerProcess.serve(
            databaseURL: await database.url("poi_serve"), environment: ["POI_DB_STATEMENT_TIMEOUT": "500ms"])
        try await server.ready()
        #expect(try await get(secretTarget, port: server.port).status == 200)
        #expect(try await get(secretTarget + "&q=museum", port: server.port).status == 200)

        let session = try DatabaseSession(await database.url("postgres"))
        try await session.lockPlaces()
        #expect(try await get(secretTarget, port: server.port).status == 504)
        #expect(try await get(secretTarget + "&q=museum", port: server.port).status == 504)
        try await session.unlockPlaces()
        #expect(try await server.stop() == 0)

        // Once the server has ended, its log is whole.
        let log = try await database.logAfterStop()
        #expect(log.contains("duration:") && log.contains("FROM locations"))
        #expect(log.contains("canceling statement due to"))
        // Cubes of space and ids of places tell as much as coordinates do: no parameter at all is there.
        #expect(!log.contains("parameters:") && !log.contains("$1 ="))
        #expect(!log.contains("37.3293135") && !log.contains("121.8893864"))
        #expect(server.program.output.unsoundLines == [])
    }
}

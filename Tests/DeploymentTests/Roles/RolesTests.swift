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
        "/attributions", "/locations/1", "/locations?ids=1,84", secretTarget,
        secretTarget + "&radius=900&category=cafe", secretTarget + "&featured=true&limit=100",
    ]

    @Test(
        "The service runs with unprivileged roles, and doesn't need the migrating one after the migration"
    )
    func everyRouteResponds() async throws {
        let database = try await PreparedDatabase()
        defer { database.cluster.stop() }
        try await database.migrate()
        // From here on the servers are on their own.
        try await database.execute("ALTER ROLE poi_migrate NOLOGIN")

        for index in ["on", "off"] {
            let server = try await ServerProcess.serve(
                databaseURL: await database.url("poi_serve"), environment: ["POI_INDEX": index])
            try await server.ready()
            for target in Self.targets {
                let response = try await get(target, port: server.port)
                #expect(
                    response.status == 200, "\(target): \(String(decoding: response.body, as: UTF8.self))")
            }
            if index == "on" { try await noticesChange(server, database) }
            #expect(try await server.stop() == 0)
            #expect(server.program.output.unsoundLines == [])
        }
    }

    /// Changes are read from what the role has to be allowed to see.
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

    @Test("A server that may only read stores what people report as poi_edit, and as no other role")
    func reportsAreStored() async throws {
        let database = try await PreparedDatabase()
        defer { database.cluster.stop() }
        try await database.migrate()
        let id = UUID().uuidString.lowercased()
        let body = #"{"id":"\#(id)","place":1,"reason":"closed","text":"since\nMonday"}"#
        for (role, status) in [("poi_serve", 500), ("poi_edit", 201)] {
            let server = try await ServerProcess.serve(
                databaseURL: await database.url("poi_serve"),
                environment: [
                    "POI_REPORTS": "on", "POI_EDIT_DATABASE_URL": await database.url(role),
                ])
            try await server.ready()
            let response = try await offPool { [port = server.port] in
                let connection = try WireClient(port: port)
                connection.send(
                    "POST /reports HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                return try connection.receiveResponse()
            }
            let text = String(decoding: response.body, as: UTF8.self)
            #expect(response.status == status, "\(role): \(text)")
            if status == 201 { #expect(text == #"{"id":"\#(id)"}"#) }
            #expect(try await server.stop() == 0)
        }
        #expect(
            try await database.execute("SELECT id, text = E'since\\nMonday', status FROM place_reports")
                == "\(id)|t|open")
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
            "CREATE FUNCTION x() RETURNS integer LANGUAGE sql RETURN 1", "SELECT grant_roles()",
            "SELECT grant_roles_until_0214()", "SELECT source FROM dataset_refreshes",
            "UPDATE dataset_refreshes SET failure = NULL",
        ] + Self.everybodysFunctions {
            let refusal = try await database.refusal(of: change, to: "poi_serve")
            #expect(
                refusal?.contains(/permission denied|must be owner|must be superuser/) == true,
                "\(change): \(refusal ?? "allowed")")
        }
        for statement in ["SELECT FROM locations", "SELECT succeeded_at, failure FROM dataset_refreshes"] {
            #expect(try await database.refusal(of: statement, to: "poi_serve") == nil)
        }
        let readOnly = try await database.execute(
            """
            SELECT unnest(setconfig) FROM pg_db_role_setting JOIN pg_roles ON pg_roles.oid = setrole
            WHERE rolname = 'poi_serve'
            """)
        #expect(readOnly.contains("default_transaction_read_only=on"))
    }

    /// What PostgreSQL lets everybody do, and what fills a disk or keeps writers waiting.
    private static let everybodysFunctions = [
        "SELECT lo_create(0)", "SELECT lo_from_bytea(0, 'x')", "SELECT lo_creat(1)",
        "SELECT lo_open(1, 131072)",
        "SELECT lo_put(1, 0, 'x')", "SELECT pg_advisory_lock(1)",
        "SELECT pg_try_advisory_xact_lock_shared(1, 1)",
        "SELECT pg_logical_emit_message(false, 'x', 'y')",
    ]

    @Test("The role for events sees no places, and the migrating role is no superuser")
    func otherRolesAreLimited() async throws {
        let database = try await Self.shared.value
        for statement in [
            "SELECT FROM locations", "SELECT FROM dataset", "INSERT INTO categories (name) VALUES ('x')",
            "DELETE FROM schema_migrations", "CREATE TABLE x ()", "SET ROLE poi_serve",
            "SELECT grant_roles()",
        ] + Self.everybodysFunctions.dropLast() {
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

    @Test("The role that edits may call what edits, with a name for the history, and do nothing else")
    func editingRoleIsLimited() async throws {
        let database = try await PreparedDatabase()
        defer { database.cluster.stop() }
        try await database.migrate()
        for statement in [
            "SELECT FROM locations", "UPDATE locations SET name = 'x'", "DELETE FROM location_versions",
            "SELECT FROM location_versions", "SELECT FROM removed_locations", "SELECT FROM import_runs",
            "INSERT INTO locations (name, category, latitude, longitude) VALUES ('x', 'cafe', 0, 0)",
            "SELECT revert_import(1)", "SELECT forget_location_versions(1)",
            "SELECT maintain_location_versions(now())",
            "SELECT FROM edit_requests", "SELECT write_place(NULL)", "SELECT bring_back_place(NULL)",
            "SELECT grant_roles()", "SELECT is_in_box(0, 0, 0, 0, 0, 0)",
            "SELECT FROM place_reports",
            "INSERT INTO place_reports (id, place_id, reason) VALUES (gen_random_uuid(), 1, 'other')",
            "DELETE FROM place_reports", "SELECT delete_outdated_place_reports(0, NULL)",
            "CREATE TABLE x ()",
            "CREATE TEMPORARY TABLE x ()", "SET ROLE poi_migrate",
        ] + Self.everybodysFunctions {
            let refusal = try await database.refusal(of: statement, to: "poi_edit")
            #expect(refusal?.contains("permission denied") == true, "\(statement): \(refusal ?? "allowed")")
        }
        for statement in [
            #"SELECT correct_place(1, '{"name": "Corrected"}', '{}', NULL, 'anna')"#,
            "SELECT place_record(1)",
            "SELECT place_changes(1, NULL, 10)", "SELECT * FROM read_place(1)",
            "SELECT * FROM place_versions(1, NULL, 10)",
            "SELECT * FROM recent_changes(NULL, NULL, NULL, NULL, NULL, 10)",
            #"SELECT edit_place('correct', 1, '{"members": {"name": "Again"}, "resets": []}', NULL, 'anna', 'k', 'd')"#,
            "SELECT remove_place(2, NULL, 'anna')",
            #"SELECT create_place('{"name": "New", "category": "cafe", "position": [1, 2]}', 'editorial', 'CC0-1.0', 'anna')"#,
            "SELECT merge_places(4, 3, NULL, NULL, 'anna')",
            "SELECT store_place_report(gen_random_uuid(), 1, NULL, NULL, 'closed', 'since Monday', 180)",
            "SELECT id, text FROM place_reports_page('open', NULL, 10)",
            "SELECT settle_place_report(gen_random_uuid(), 'done', false, NULL, 'anna')",
            "SELECT delete_place_report(gen_random_uuid())",
        ] {
            #expect(try await database.refusal(of: statement, to: "poi_edit") == nil, "\(statement)")
        }
        let who = "SELECT DISTINCT by_role, by_editor FROM location_versions"
        #expect(try await database.execute(who) == "poi_edit|anna")
        for role in ["poi_serve", "poi_events"] {
            for statement in [
                "SELECT remove_place(5, NULL, 'x')", "SELECT FROM place_reports",
                "SELECT recent_changes(NULL, NULL, NULL, NULL, NULL, 10)",
                "SELECT id FROM place_reports_page('open', NULL, 10)",
                "SELECT store_place_report(gen_random_uuid(), 1, NULL, NULL, 'closed', NULL, 180)",
                "SELECT delete_place_report(gen_random_uuid())",
            ] {
                let refusal = try await database.refusal(of: statement, to: role)
                #expect(refusal?.contains("permission denied") == true, "\(statement)")
            }
        }
    }

    @Test("What a later migration makes is nobody else's until it is granted")
    func laterMigrations() async throws {
        let database = try await Self.shared.value
        try await database.execute(
            """
            SET SESSION AUTHORIZATION poi_migrate; CREATE TABLE opening_hours ();
            CREATE FUNCTION is_open() RETURNS boolean LANGUAGE sql RETURN true
            """)
        for role in ["poi_serve", "poi_events", "poi_edit"] {
            for statement in ["SELECT FROM opening_hours", "SELECT is_open()"] {
                let refusal = try await database.refusal(of: statement, to: role)
                #expect(refusal?.contains("permission denied") == true, "\(role): \(refusal ?? "allowed")")
            }
        }
    }

    @Test("Each role has the rights that are named, and no others by default or as one of all")
    func rightsAreNamed() async throws {
        let database = try await PreparedDatabase()
        defer { database.cluster.stop() }
        try await database.migrate()
        let granted = try await database.execute(
            """
            SELECT role, relname, privilege FROM pg_class, unnest(ARRAY['poi_serve', 'poi_events', 'poi_edit']) AS role,
                unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS privilege
            WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
                AND has_table_privilege(role, pg_class.oid, privilege)
                -- PostGIS's own are everybody's to read.
                AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
            UNION ALL SELECT role, relname || '.' || attname, privilege
            FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid, unnest(ARRAY['poi_serve', 'poi_events', 'poi_edit']) AS role,
                unnest(ARRAY['SELECT', 'UPDATE']) AS privilege
            WHERE relname LIKE 'events%' AND has_column_privilege(role, attrelid, attnum, privilege)
            UNION ALL SELECT role, relname, 'USAGE' FROM pg_class, unnest(ARRAY['poi_serve', 'poi_events', 'poi_edit']) AS role
            WHERE relkind = 'S' AND has_sequence_privilege(role, pg_class.oid, 'USAGE, SELECT, UPDATE')
            UNION ALL SELECT role, 'database', privilege FROM unnest(ARRAY['poi_serve', 'poi_events', 'poi_edit']) AS role,
                unnest(ARRAY['CREATE', 'TEMPORARY']) AS privilege
            WHERE has_database_privilege(role, current_database(), privilege)
            UNION ALL SELECT role, nspname, 'CREATE' FROM pg_namespace, unnest(ARRAY['poi_serve', 'poi_events', 'poi_edit']) AS role
            WHERE has_schema_privilege(role, pg_namespace.oid, 'CREATE')
            ORDER BY 1 DESC, 2
            """)
        let read = [
            "categories", "dataset", "dataset_incarnation", "dataset_log", "datasets",
            "filterable_properties",
            "locations", "schema_migrations",
        ]
        #expect(
            granted.split(separator: "\n").map(String.init)
                == read.map { "poi_serve|\($0)|SELECT" } + [
                    "poi_events|events|INSERT", "poi_events|events.id|SELECT",
                ])
    }

    @Test("The script runs nothing of the migrating role's, which could become a superuser by it")
    func scriptRunsNothingOfOthers() async throws {
        let database = try await PreparedDatabase()
        defer { database.cluster.stop() }
        try await database.migrate()
        let rise = "LANGUAGE plpgsql AS 'BEGIN ALTER ROLE poi_migrate SUPERUSER; RETURN NULL; END'"
        try await database.execute(
            """
            SET SESSION AUTHORIZATION poi_migrate;
            DROP FUNCTION IF EXISTS grant_roles(), grant_events();
            CREATE FUNCTION grant_roles() RETURNS text \(rise);
            CREATE FUNCTION grant_events() RETURNS text \(rise);
            CREATE FUNCTION format(text, regprocedure) RETURNS text \(rise);
            """)
        try await database.prepare()
        #expect(
            try await database.execute("SELECT rolsuper FROM pg_roles WHERE rolname = 'poi_migrate'") == "f")
    }

    @Test("Who may only read holds up no commit, import, partition or migration, whatever locks he takes")
    func readerHoldsUpNobody() async throws {
        let database = try await PreparedDatabase()
        defer { database.cluster.stop() }
        let owner = ["DATABASE_URL": try await database.url("poi_migrate")]
        #expect(try await PoiProgram.run(["migrate", "up"], environment: owner).exitCode == 0)
        // As with a managed database, where the script can't take this away.
        try await database.execute(
            "GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint), pg_advisory_lock(integer, integer) TO poi_serve"
        )
        let reader = try DatabaseSession(await database.url("poi_serve"))
        try await reader.run("\\set ON_ERROR_ROLLBACK on\nSET idle_in_transaction_session_timeout = 0; BEGIN")
        // Those by which commits, imports, rebuilds, partitions and migrations once took turns.
        for key in [
            "x'706f695f64617461'::bigint", "1347373344, 1229803604", "1347373344, 1380533336",
            "hashtextextended('points-of-interest events partitions', 0)", "x'706f695f6d696772'::bigint",
        ] { try await reader.run("SELECT pg_advisory_lock(\(key))") }
        let tables = try await database.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v')"
        )
        for table in tables.split(separator: "\n") {
            for mode in [
                "ACCESS SHARE", "ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "SHARE",
                "SHARE ROW EXCLUSIVE",
                "EXCLUSIVE", "ACCESS EXCLUSIVE",
            ] { try await reader.run("LOCK TABLE \(table) IN \(mode) MODE") }
        }
        let held = "SELECT DISTINCT mode FROM pg_locks WHERE locktype = 'relation' AND pid = pg_backend_pid()"
        #expect(try await reader.run(held) == ["AccessShareLock"])

        try await database.execute("SET lock_timeout = '10s'; INSERT INTO categories (name) VALUES ('spa')")
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = folder.path + "/places.csv"
        try Data("id,name,category,latitude,longitude\n1,A,spa,1,1\n".utf8).write(to: URL(filePath: file))
        try await database.execute("DROP TABLE \(Self.newestPartition(of: database))")
        for command in [
            ["import", file, "--dataset", "test", "--license", "CC0-1.0"], ["maintain"],
            ["migrate", "up", "--seeds"],
        ] {
            let result = try await PoiProgram.run(command, environment: owner)
            #expect(result.exitCode == 0, "\(command): \(result)")
        }
        #expect(try await reader.run(held) == ["AccessShareLock"])
    }

    private static func newestPartition(of database: PreparedDatabase) async throws -> String {
        try await database.execute(
            "SELECT max(relname) FROM pg_class WHERE relname ~ '^events_\\d{4}_\\d\\d$'")
    }

    @Test("The script may be repeated: passwords are changed where they are given, rights stay as they are")
    func repeats() async throws {
        let database = try await PreparedDatabase()
        defer { database.cluster.stop() }
        try await database.migrate()
        let before = try await rights(in: database)
        #expect(
            try await passwords(in: database) == ["poi_edit|", "poi_events|", "poi_migrate|", "poi_serve|"])
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
        ON CONFLICT DO NOTHING RETURNING id
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
            "SELECT user_id FROM events", "SELECT value FROM events", "SELECT time FROM events",
            "UPDATE events SET name = 'x'",
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
            databaseURL: await database.url("poi_serve"),
            environment: ["POI_INDEX": "off", "POI_DB_STATEMENT_TIMEOUT": "500ms"])
        try await server.ready()
        #expect(try await get(secretTarget, port: server.port).status == 200)

        let session = try DatabaseSession(await database.url("postgres"))
        try await session.lockPlaces()
        #expect(try await get(secretTarget, port: server.port).status == 504)
        try await session.unlockPlaces()
        #expect(try await server.stop() == 0)

        // Once the server has ended, its log is whole.
        let log = try await database.logAfterStop()
        #expect(log.contains("duration:") && log.contains("FROM locations"))
        #expect(log.contains("canceling statement due to"))
        // Ids of places tell as much as coordinates do: no parameter at all is there.
        #expect(!log.contains("parameters:") && !log.contains("$1 ="))
        #expect(!log.contains("37.3293135") && !log.contains("121.8893864"))
        #expect(server.program.output.unsoundLines == [])
    }
}

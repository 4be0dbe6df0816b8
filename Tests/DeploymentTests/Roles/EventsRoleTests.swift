import Testing

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

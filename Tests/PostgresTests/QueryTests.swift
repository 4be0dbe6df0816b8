import EventLoop
import Postgres
import PrivateCluster
import Testing

@Suite("Queries on one connection", .timeLimit(.minutes(2)))
struct QueryTests {
    private static let database = Result {
        let database = try TestDatabase()
        try database.execute(
            """
            CREATE TABLE parent (id int PRIMARY KEY);
            CREATE TABLE child (parent int REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
            """)
        return database
    }

    private static let echo = PreparedStatement("SELECT $1 + 1", parameters: [.int8])

    @Test("An error in the middle of the pipeline leaves its neighbours alone")
    func neighbours() async throws {
        try await withConnection(Self.database.get()) { connection in
            let bound = LoopBound(connection, loop: connection.loop)
            let outcomes = await withTaskGroup(of: (Int, String).self) { group in
                for index in 0..<30 {
                    group.addTask(executorPreference: bound.loop) {
                        do throws(PostgresError) {
                            let query = PostgresQuery("SELECT 1 / $1", [.int4(Int32(index % 3))])
                            _ = try await bound.value.query(query)
                            return (index, "rows")
                        } catch {
                            return (index, error.sqlState?.rawValue ?? "\(error)")
                        }
                    }
                }
                return await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
            }
            for index in 0..<30 { #expect(outcomes[index] == (index % 3 == 0 ? "22012" : "rows")) }
        }
    }

    @Test("A statement that cannot be prepared says so each time, and works once it can")
    func failedPrepare() async throws {
        try await withConnection(Self.database.get()) { connection in
            let statement = PreparedStatement("SELECT id FROM later")
            let bound = LoopBound(connection, loop: connection.loop)
            // Two at once: the second is sent while the first's Parse is still on its way.
            let states = await withTaskGroup(of: SQLState?.self) { group in
                for _ in 0..<2 {
                    group.addTask(executorPreference: bound.loop) {
                        do throws(PostgresError) {
                            _ = try await bound.value.query(statement)
                            return nil
                        } catch {
                            return error.sqlState
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(states == [.undefinedTable, .undefinedTable])
            _ = try await connection.query("CREATE TABLE later AS SELECT 7 AS id")
            #expect(try await connection.query(statement).only().decode(Int.self, at: 0) == 7)
        }
    }

    @Test("A statement is prepared once for a connection, and again after the server has dropped it")
    func preparedOnce() async throws {
        try await withConnection(Self.database.get()) { connection in
            let count: PostgresQuery =
                "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'SELECT $1 + 1%'"
            for _ in 0..<3 { _ = try await connection.query(Self.echo, [.int8(1)]) }
            #expect(try await connection.query(count).only().decode(Int.self, at: 0) == 1)
            _ = try await connection.query("DEALLOCATE ALL")
            let row = try await connection.query(Self.echo, [.int8(1)]).only()
            #expect(try row.decode(Int.self, at: 0) == 2)
            #expect(try await connection.query(count).only().decode(Int.self, at: 0) == 1)
        }
    }

    @Test("A statement whose table has changed is prepared again")
    func changedTable() async throws {
        try await withConnection(Self.database.get()) { connection in
            _ = try await connection.query("CREATE TABLE changing (a int)")
            let statement = PreparedStatement("SELECT * FROM changing")
            #expect(try await connection.query(statement).columnCount == 1)
            _ = try await connection.query("ALTER TABLE changing ADD b int")
            #expect(try await connection.query(statement).columnCount == 2)
        }
    }

    @Test(
        "A dropped statement in a transaction is an error, and the later error of the transaction doesn't hide it"
    )
    func staleInTransaction() async throws {
        try await withConnection(Self.database.get()) { connection in
            let statement = PreparedStatement("SELECT 5")
            _ = try await connection.query(statement)
            _ = try await connection.query("DEALLOCATE ALL")
            _ = try await connection.query("BEGIN")
            let error = await #expect(throws: PostgresError.self) {
                _ = try await connection.query(statement)
            }
            #expect(error?.sqlState == .invalidStatementName)
            _ = try await connection.query("ROLLBACK")
            #expect(try await connection.query(statement).count == 1)
        }
    }

    @Test("A deferred constraint that fails at the commit is the query's error, and no one else's")
    func deferredConstraint() async throws {
        try await withConnection(Self.database.get()) { connection in
            let insert = PreparedStatement("INSERT INTO child VALUES ($1)", parameters: [.int4])
            for _ in 0..<2 {
                let error = await #expect(throws: PostgresError.self) {
                    _ = try await connection.query(insert, [.int4(1)])
                }
                #expect(error?.sqlState?.rawValue == "23503")
                try await expectAnswer(connection)
            }
        }
    }

    @Test("Values that don't fit a statement's parameters are refused before they are sent")
    func mismatch() async throws {
        try await withConnection(Self.database.get()) { connection in
            #expect(await code { try await connection.query(Self.echo) } == .parameterMismatch)
            #expect(
                await code { try await connection.query(Self.echo, [.int4(1)]) } == .parameterMismatch)
            let many = [PostgresValue](repeating: .int4(1), count: 70_000)
            #expect(
                await code { try await connection.query(PostgresQuery("SELECT 1", many)) }
                    == .parameterMismatch)
            let cutOff = PostgresQuery(SQL(unsafeSQL: "SELECT 1 \0 FROM nowhere"))
            #expect(await code { try await connection.query(cutOff) } == .sendFailed)
            // The statement has a parameter that nobody declared: the server's error, the connection stays.
            let undeclared = PreparedStatement("SELECT $1::int")
            #expect(await code { try await connection.query(undeclared) } == .server)
            try await expectAnswer(connection)
        }
    }

    @Test("Without prepared statements, as behind a pooler, no statement stays on the server")
    func unnamed() async throws {
        try await withConnection(Self.database.get(), { $0.preparedStatements = .off }) { connection in
            for value in 1...3 {
                let row = try await connection.query(Self.echo, [.int8(Int64(value))]).only()
                #expect(try row.decode(Int.self, at: 0) == value + 1)
            }
            let rows = try await connection.query("SELECT * FROM pg_prepared_statements")
            #expect(rows.isEmpty)
        }
    }

    @Test("Many megabytes in both directions at the same time arrive whole")
    func muchData() async throws {
        try await withConnection(Self.database.get()) { connection in
            let bound = LoopBound(connection, loop: connection.loop)
            let text = String(repeating: "x", count: 1 << 20)
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<16 {
                    group.addTask(executorPreference: bound.loop) {
                        let rows = try await bound.value.query(PostgresQuery("SELECT $1", [.text(text)]))
                        return try rows.only().decode(String.self, at: 0) == text
                    }
                }
                for try await isWhole in group { #expect(isWhole) }
            }
        }
    }

    @Test("The session has the configured settings and name")
    func settings() async throws {
        try await withConnection(Self.database.get()) { connection in
            let row = try await connection.query(
                """
                SELECT current_setting('jit'), current_setting('statement_timeout'),
                       current_setting('max_parallel_workers_per_gather'), current_setting('application_name'),
                       current_setting('client_encoding')
                """
            ).only()
            let values = try (0..<5).map { try row.decode(String.self, at: $0) }
            #expect(values == ["off", "2s", "0", "points-of-interest", "UTF8"])
        }
    }
}

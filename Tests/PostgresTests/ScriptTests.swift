import EventLoop
import Foundation
import Locking
import Postgres
import PrivateCluster
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("Scripts and transactions", .timeLimit(.minutes(2)))
struct ScriptTests {
    private static let database = Result { try TestDatabase() }

    @Test("A script of several statements runs whole, and queries go on afterwards")
    func script() async throws {
        try await withConnection(Self.database.get()) { connection in
            try await connection.unsafeExecuteScript(
                """
                -- a comment with a ; in it
                CREATE TABLE scripted (n int);
                INSERT INTO scripted VALUES (1), (2);
                DO $$ BEGIN INSERT INTO scripted VALUES (3); END $$;
                """)
            let rows = try await connection.query("SELECT n FROM scripted ORDER BY n")
            #expect(try rows.map { try $0.decode(Int.self, at: 0) } == [1, 2, 3])
            try await connection.unsafeExecuteScript("")
        }
    }

    @Test("A statement that fails undoes the script's implicit transaction and tells where it is")
    func failure() async throws {
        try await withConnection(Self.database.get()) { connection in
            let error = await #expect(throws: PostgresError.self) {
                try await connection.unsafeExecuteScript("CREATE TABLE half (n int); SELEC 1; SELECT 2")
            }
            #expect(error?.sqlState?.rawValue == "42601" && error?.server?.position == 28)
            let half = try await connection.query("SELECT to_regclass('half') IS NULL").only()
            #expect(try half.decode(Bool.self, at: 0))
        }
    }

    @Test("While a script runs, other queries are refused, not mixed in")
    func alone() async throws {
        let database = try Self.database.get()
        try await withConnection(database) { connection in
            let bound = LoopBound(connection, loop: connection.loop)
            _ = try await connection.query("SELECT pg_advisory_lock(1)")
            try await withSecond(database, connection.loop) { second in
                let other = LoopBound(second, loop: second.loop)
                let script = Task(executorPreference: connection.loop) {
                    try await other.value.unsafeExecuteScript("SELECT pg_advisory_lock(1); SELECT 2")
                }
                let waits = PostgresQuery(
                    "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND NOT granted)",
                    [.int4(second.backendProcessID)])
                try await waitUntil(connection, waits)
                #expect(await code { try await second.query("SELECT 1") } == .connectionInUse)
                #expect(
                    await code { try await second.unsafeExecuteScript("SELECT 1") } == .connectionInUse)
                _ = try await bound.value.query("SELECT pg_advisory_unlock(1)")
                try await script.value
                try await expectAnswer(second)
            }
        }
    }

    @Test("A cancelled script ends in the server, and its connection goes on")
    func cancelled() async throws {
        let database = try Self.database.get()
        try await withConnection(database) { connection in
            try await withSecond(database, connection.loop, { $0.statementTimeout = nil }) { second in
                let other = LoopBound(second, loop: second.loop)
                let script = Task(executorPreference: connection.loop) {
                    await code { try await other.value.unsafeExecuteScript("SELECT pg_sleep(60)") }
                }
                let sleeps = PostgresQuery(
                    "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep')",
                    [.int4(second.backendProcessID)])
                try await waitUntil(connection, sleeps)
                script.cancel()
                #expect(await script.value == .cancelled)
                try await expectAnswer(second)
            }
        }
    }

    @Test("A COPY inside a script, which nobody feeds, ends the connection instead of hanging")
    func copyInScript() async throws {
        try await withConnection(Self.database.get()) { connection in
            #expect(
                await code {
                    try await connection.unsafeExecuteScript(
                        "CREATE TEMP TABLE fed (n int); COPY fed FROM STDIN")
                } == .unexpectedResult)
            #expect(!connection.isOpen)
        }
    }

    @Test("A transaction is committed when its body returns and rolled back when it throws")
    func transactions() async throws {
        struct Regret: Error {}
        try await withConnection(Self.database.get()) { connection in
            _ = try await connection.query("CREATE TEMP TABLE kept (n int)")
            try await connection.withTransaction { _ = try await $0.query("INSERT INTO kept VALUES (1)") }
            await #expect(throws: Regret.self) {
                try await connection.withTransaction {
                    _ = try await $0.query("INSERT INTO kept VALUES (2)")
                    throw Regret()
                }
            }
            let rows = try await connection.query("SELECT n FROM kept")
            #expect(try rows.map { try $0.decode(Int.self, at: 0) } == [1])
        }
    }

    @Test("A commit that the server turned into a roll-back is an error")
    func swallowedError() async throws {
        try await withConnection(Self.database.get()) { connection in
            let failure = await code {
                try await connection.withTransaction { _ = try? await $0.query("SELECT 1/0") }
            }
            #expect(failure == .transactionRolledBack)
            try await expectAnswer(connection)
        }
    }

    @Test("A cancelled task's transaction is rolled back")
    func cancelledTransaction() async throws {
        try await withConnection(Self.database.get()) { connection in
            _ = try await connection.query("CREATE TABLE undone (n int)")
            let bound = LoopBound(connection, loop: connection.loop)
            let task = Task(executorPreference: connection.loop) {
                await code {
                    try await bound.value.withTransaction { connection in
                        _ = try await connection.query("INSERT INTO undone VALUES (1)")
                        withUnsafeCurrentTask { $0?.cancel() }
                    }
                }
            }
            #expect(await task.value == .cancelled)
            let count = try await connection.query(
                "SELECT count(*), pg_current_xact_id_if_assigned() FROM undone")
            #expect(try count.only().decode(Int.self, at: 0) == 0)
        }
    }

    @Test("Notices reach the hook and never standard error")
    func notices() async throws {
        try await withConnection(Self.database.get()) { connection in
            let seen = Lock<[String]>([])
            let written = try await captureStandardError {
                connection.onNotice = { notice in seen.withLock { $0.append(notice.message) } }
                _ = try await connection.query("DO $$ BEGIN RAISE WARNING 'conspicuous'; END $$")
                connection.onNotice = nil
                try await connection.unsafeExecuteScript("DO $$ BEGIN RAISE WARNING 'conspicuous'; END $$")
            }
            #expect(seen.withLock { $0 } == ["conspicuous"])
            #expect(!written.contains("conspicuous"))
        }
    }

    private func withSecond(
        _ database: TestDatabase, _ loop: EventLoop,
        _ change: (inout PostgresConfiguration) -> Void = { _ in },
        _ body: (PostgresConnection) async throws -> Void
    ) async throws {
        var configuration = try PostgresConfiguration(conninfo: database.connectionString)
        change(&configuration)
        let second = try await PostgresConnection.connect(configuration, loop: loop)
        do {
            try await body(second)
            await second.close()
        } catch {
            await second.close()
            throw error
        }
    }
}

/// What anything in the process writes to standard error while `body` runs; it is written out afterwards.
func captureStandardError(_ body: () async throws -> Void) async throws -> String {
    let file = FileManager.default.temporaryDirectory.appending(path: "stderr-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let saved = dup(STDERR_FILENO)
    let descriptor = open(file.path(percentEncoded: false), O_CREAT | O_RDWR | O_APPEND, 0o600)
    guard saved >= 0, descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
    dup2(descriptor, STDERR_FILENO)
    close(descriptor)
    let result: Result<Void, any Error>
    do {
        try await body()
        result = .success(())
    } catch {
        result = .failure(error)
    }
    dup2(saved, STDERR_FILENO)
    close(saved)
    try result.get()
    let data = try Data(contentsOf: file)
    FileHandle.standardError.write(data)
    return String(decoding: data, as: UTF8.self)
}

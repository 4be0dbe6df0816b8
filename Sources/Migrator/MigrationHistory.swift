import Postgres

/// A row of `schema_migrations`.
public struct AppliedMigration: Sendable, Hashable {
    /// The number of the file.
    public let version: String
    /// The file's checksum when it was applied; nil where dbmate applied it.
    public let checksum: String?
    /// When it was applied, in PostgreSQL's notation; nil where the table didn't hold that yet.
    public let appliedAt: String?
    /// The file's name without its extension; nil where dbmate applied it.
    public let name: String?

    /// A row with these columns.
    public init(
        version: String, checksum: String? = nil, appliedAt: String? = nil, name: String? = nil
    ) {
        self.version = version
        self.checksum = checksum
        self.appliedAt = appliedAt
        self.name = name
    }

    /// The name, or the version where there is no name.
    var shownName: String { name ?? version }
}

// MARK: - The table

/// The table `schema_migrations`: dbmate's, with three more nullable columns, which dbmate leaves alone.
struct MigrationHistory {
    private let connection: PostgresConnection

    init(_ connection: PostgresConnection) {
        self.connection = connection
    }

    /// Reads the applied rows, lowest number first; none where there is no table yet. Changes nothing.
    func applied() async throws -> [AppliedMigration] {
        let exists = try await connection.query("SELECT to_regclass('schema_migrations') IS NOT NULL").only()
        guard try exists.decode(Bool.self, at: 0) else { return [] }
        // It goes through JSON, since a table that dbmate made lacks some of the columns.
        let rows = try await connection.query(
            """
            SELECT version::text, to_jsonb(m) ->> 'checksum', to_jsonb(m) ->> 'applied_at', to_jsonb(m) ->> 'name'
            FROM schema_migrations AS m ORDER BY version
            """)
        return try rows.map { row in
            try AppliedMigration(
                version: row.decode(at: 0), checksum: row.decode(at: 1), appliedAt: row.decode(at: 2),
                name: row.decode(at: 3))
        }
    }

    /// Creates the table, or adds our columns to one that dbmate made.
    func prepare() async throws {
        // The default comes afterwards: rows that exist already were not applied now.
        try await connection.unsafeExecuteScript(
            """
            SET LOCAL client_min_messages = warning;
            CREATE TABLE IF NOT EXISTS schema_migrations (version varchar PRIMARY KEY);
            ALTER TABLE schema_migrations
                ADD COLUMN IF NOT EXISTS name text,
                ADD COLUMN IF NOT EXISTS checksum text,
                ADD COLUMN IF NOT EXISTS applied_at timestamptz;
            ALTER TABLE schema_migrations ALTER COLUMN applied_at SET DEFAULT now();
            """)
    }

    /// Records that a step was done.
    func record(_ step: MigrationPlan.Step) async throws {
        switch step.direction {
        case .up:
            _ = try await connection.query(
                PostgresQuery(
                    "INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)",
                    [.text(step.file.version), .text(step.file.name), .text(step.file.checksum)]))
        case .down:
            _ = try await connection.query(
                PostgresQuery(
                    "DELETE FROM schema_migrations WHERE version = $1", [.text(step.file.version)]))
        }
    }
}

// MARK: - The lock

/// The advisory lock that one run at a time holds, from reading the rows to the last record.
///
/// It is taken by polling: a session that waits inside `pg_advisory_lock` holds a snapshot, and the other run's
/// `CREATE INDEX CONCURRENTLY` would wait for the end of that: a deadlock.
struct MigrationLock {
    /// "poi_migr" in ASCII. Each database has advisory locks of its own, so one number does for all of them.
    private static let key = PostgresValue.int8(0x706f_695f_6d69_6772)
    private static let pollingMilliseconds = 80...160

    /// Runs `body` under the lock, and waits at most `limit` for it.
    ///
    /// - Throws: ``MigrationError/lockTimedOut(_:)``, and the errors of `body` and of the connection.
    static func withLock<R>(
        on connection: PostgresConnection, waitingAtMost limit: Duration, onWait: () -> Void,
        _ body: () async throws -> R
    ) async throws -> R {
        try await acquire(on: connection, waitingAtMost: limit, onWait: onWait)
        do {
            let result = try await body()
            try await release(on: connection)
            return result
        } catch {
            // The lock ends with the session anyway; this spares others the wait for that.
            try? await release(on: connection)
            throw error
        }
    }

    private static func acquire(
        on connection: PostgresConnection, waitingAtMost limit: Duration, onWait: () -> Void
    ) async throws {
        let deadline = ContinuousClock.now + limit
        var hasWaited = false
        while true {
            let row = try await connection.query(PostgresQuery("SELECT pg_try_advisory_lock($1)", [key]))
                .only()
            if try row.decode(Bool.self, at: 0) { return }
            guard ContinuousClock.now < deadline else { throw MigrationError.lockTimedOut(limit) }
            if !hasWaited { onWait() }
            hasWaited = true
            // With jitter, so that runs that start together don't ask together.
            try await Task.sleep(for: .milliseconds(Int.random(in: pollingMilliseconds)))
        }
    }

    private static func release(on connection: PostgresConnection) async throws {
        _ = try await connection.query(PostgresQuery("SELECT pg_advisory_unlock($1)", [key]))
    }
}

import Postgres

/// A row of `schema_migrations`.
package struct AppliedMigration: Sendable, Hashable {
    package let version: String
    /// The file's name without its extension.
    package let name: String
    package let checksum: String
    /// When it was applied, in PostgreSQL's notation.
    package let appliedAt: String

    /// A row with these columns.
    package init(version: String, name: String = "", checksum: String, appliedAt: String = "") {
        self.version = version
        self.name = name
        self.checksum = checksum
        self.appliedAt = appliedAt
    }
}

// MARK: - The table

/// The table `schema_migrations`.
struct MigrationHistory {
    private let connection: PostgresConnection

    init(_ connection: PostgresConnection) {
        self.connection = connection
    }

    /// Reads the applied rows, lowest number first; none where there is no table yet. Changes nothing.
    func applied() async throws -> [AppliedMigration] {
        let exists = try await connection.query("SELECT to_regclass('schema_migrations') IS NOT NULL").only()
        guard try exists.decode(Bool.self, at: 0) else { return [] }
        let rows = try await connection.query(
            """
            SELECT version::text, name::text, checksum::text, applied_at::text FROM schema_migrations ORDER BY version
            """)
        return try rows.map { row in
            try AppliedMigration(
                version: row.decode(at: 0), name: row.decode(at: 1), checksum: row.decode(at: 2),
                appliedAt: row.decode(at: 3))
        }
    }

    /// Creates the table where there is none.
    func prepare() async throws {
        do {
            try await connection.unsafeExecuteScript(
                """
                SET LOCAL client_min_messages = warning;
                CREATE TABLE IF NOT EXISTS schema_migrations (
                    version text PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
                    applied_at timestamptz NOT NULL DEFAULT now()
                );
                """)
        } catch let error as PostgresError where error.sqlState == .uniqueViolation {
            // In the catalog: another run has made it at the same moment.
        }
    }

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

/// The lock that one run at a time holds, from its last look at the applied migrations to its last record: one of the table
/// `schema_migrations`, which no role gets that can't write there.
///
/// A transaction holds it, in a session of its own, since some statements of migrations can't run in one.
struct MigrationLock {
    let waitLimit: Duration
    /// Called where another run has the lock.
    let onWait: () -> Void

    private static let table: SQL = "schema_migrations"

    /// Takes the lock in a transaction of `connection`, which has to exist already, and keeps it until that ends.
    ///
    /// - Throws: ``MigrationError/lockTimedOut(_:)``; `PostgresError`.
    func acquire(on connection: PostgresConnection) async throws {
        // Under the other levels a transaction has a snapshot as long as it lasts, for which CREATE INDEX CONCURRENTLY waits.
        try await connection.unsafeExecuteScript(
            """
            SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
            SET LOCAL idle_in_transaction_session_timeout = 0;
            SET LOCAL statement_timeout = 0;
            SET LOCAL lock_timeout = \(max(1, Int(waitLimit / .milliseconds(1))));
            """)
        guard try await !connection.tryLock(Self.table) else { return }
        guard waitLimit > .zero else { throw MigrationError.lockTimedOut(waitLimit) }
        onWait()
        do throws(PostgresError) {
            try await connection.lock(Self.table)
        } catch {
            guard error.sqlState == .lockNotAvailable else { throw error }
            throw MigrationError.lockTimedOut(waitLimit)
        }
    }
}

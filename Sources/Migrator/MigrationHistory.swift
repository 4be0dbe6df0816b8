import Postgres

/// The table `schema_migrations`: dbmate's, with four nullable columns more, which dbmate leaves alone.
struct MigrationHistory {
    private let connection: PostgresConnection

    init(_ connection: PostgresConnection) {
        self.connection = connection
    }

    /// The applied rows; none where there is no table yet. Changes nothing.
    func applied() async throws -> [AppliedMigration] {
        let exists = try await connection.query("SELECT to_regclass('schema_migrations') IS NOT NULL").only()
        guard try exists.decode(Bool.self, at: 0) else { return [] }
        let rows = try await connection.query(PostgresQuery(AppliedMigration.query))
        return try rows.map { try AppliedMigration($0) }
    }

    /// Makes the table, or adds our columns to one that dbmate made.
    func prepare() async throws {
        // The default only afterwards: rows that exist were not applied now.
        try await connection.unsafeExecuteScript(
            """
            SET LOCAL client_min_messages = warning;
            CREATE TABLE IF NOT EXISTS schema_migrations (version varchar PRIMARY KEY);
            ALTER TABLE schema_migrations
                ADD COLUMN IF NOT EXISTS name text,
                ADD COLUMN IF NOT EXISTS checksum text,
                ADD COLUMN IF NOT EXISTS applied_at timestamptz,
                ADD COLUMN IF NOT EXISTS oldest_program text;
            ALTER TABLE schema_migrations ALTER COLUMN applied_at SET DEFAULT now();
            """)
    }

    /// Writes down that a step was done.
    func record(_ step: MigrationPlan.Step) async throws {
        switch step.direction {
        case .up:
            _ = try await connection.query(
                PostgresQuery(
                    """
                    INSERT INTO schema_migrations (version, name, checksum, oldest_program) VALUES ($1, $2, $3, $4)
                    """,
                    [
                        .text(step.file.version), .text(step.file.name), .text(step.file.checksum),
                        step.file.oldestProgram.map { .text($0.description) } ?? .null(.text),
                    ]))
        case .down:
            _ = try await connection.query(
                PostgresQuery(
                    "DELETE FROM schema_migrations WHERE version = $1", [.text(step.file.version)]))
        }
    }
}

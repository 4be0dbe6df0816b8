import Migrator
import Places
import Postgres

/// Checks that every migration that this program relies on is applied.
///
/// Newer migrations than this program knows are accepted: what a release drops, the release before didn't use any more.
struct SchemaCheck: Sendable {
    /// The migrations that this program knows.
    let migrations: MigrationDirectory

    private static let applied = PreparedStatement(
        "SELECT version::text, checksum::text FROM schema_migrations")

    func run(_ ask: (PreparedStatement) async throws(PostgresError) -> PostgresRows) async -> StoreHealth {
        do throws(PostgresError) {
            var applied: [AppliedMigration] = []
            for row in try await ask(Self.applied) {
                applied.append(
                    AppliedMigration(version: try row.decode(at: 0), checksum: try row.decode(at: 1)))
            }
            return .reachable(missingMigrations: migrations.missingSchemaVersions(applied: applied))
        } catch  where error.sqlState == .undefinedTable {
            return .reachable(missingMigrations: migrations.missingSchemaVersions(applied: []))
        } catch {
            return .unreachable(reason: error.logText)
        }
    }
}

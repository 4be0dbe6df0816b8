import Migrator
import POIService
import Postgres

/// Asks the database whether every migration is applied that this binary relies on.
///
/// Newer ones than this binary knows are welcome: migrations expand first and contract a release later.
struct SchemaCheck: Sendable {
    /// The migrations that this binary knows.
    let migrations: MigrationDirectory

    private static let appliedVersions = PreparedStatement("SELECT version::text FROM schema_migrations")

    func run(on pool: ConnectionPool) async -> StoreHealth {
        do throws(PostgresError) {
            let rows = try await pool.query(Self.appliedVersions, lane: .exclusive, isIdempotent: true)
            var applied: Set<String> = []
            for row in rows { applied.insert(try row.decode(at: 0)) }
            return .reachable(missingMigrations: migrations.missingSchemaVersions(applied: applied))
        } catch  where error.sqlState == .undefinedTable {
            return .reachable(missingMigrations: migrations.missingSchemaVersions(applied: []))
        } catch {
            return .unreachable(reason: error.logText)
        }
    }
}

import Migrator
import POIService
import Postgres

/// Asks the database whether every migration is applied that this binary relies on, and whether none is applied that
/// it is too old for.
///
/// Newer ones than this binary knows are welcome unless they say that they aren't: migrations expand first and contract
/// a release later.
struct SchemaCheck: Sendable {
    /// The migrations that this binary knows.
    let migrations: MigrationDirectory

    private static let applied = PreparedStatement(AppliedMigration.query)
    private static let program = ProgramVersion(BuildInformation.version)

    func run(on pool: ConnectionPool) async -> StoreHealth {
        do throws(PostgresError) {
            let rows = try await pool.query(Self.applied, lane: .exclusive, isIdempotent: true)
            var applied: [AppliedMigration] = []
            for row in rows { applied.append(try AppliedMigration(row)) }
            if let program = Self.program {
                let beyond = migrations.migrationsBeyond(program, applied: applied)
                if !beyond.isEmpty { return .outdated(byMigrations: beyond.map(\.shownName)) }
            }
            return .reachable(
                missingMigrations: migrations.missingSchemaVersions(applied: Set(applied.map(\.version))))
        } catch  where error.sqlState == .undefinedTable {
            return .reachable(missingMigrations: migrations.missingSchemaVersions(applied: []))
        } catch {
            return .unreachable(reason: error.logText)
        }
    }
}

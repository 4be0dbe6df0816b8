import Migrator
import Places
import Postgres
import Program

/// Checks that every migration that this program relies on is applied, and that this program isn't too old for an applied
/// one.
///
/// Newer migrations than this program knows are accepted unless they say that it is too old for them: releases first add
/// to the schema, and remove what is no longer used after the roll-out.
struct SchemaCheck: Sendable {
    /// The migrations that this program knows.
    let migrations: MigrationDirectory

    private static let applied = PreparedStatement(AppliedMigration.query)
    private static let program = ProgramVersion(BuildInformation.version)

    func run(on pool: ConnectionPool) async -> StoreHealth {
        do throws(PostgresError) {
            let rows = try await pool.query(Self.applied, lane: .exclusive, isIdempotent: true)
            var applied: [AppliedMigration] = []
            for row in rows { applied.append(try AppliedMigration(row)) }
            let versions = Set(applied.map(\.version))
            let replaced = migrations.replacedVersions(applied: versions)
            guard replaced.isEmpty else { return .replaced(migrations: replaced) }
            if let program = Self.program {
                let beyond = migrations.migrationsBeyond(program, applied: applied)
                if !beyond.isEmpty { return .outdated(byMigrations: beyond.map(\.shownName)) }
            }
            return .reachable(missingMigrations: migrations.missingSchemaVersions(applied: versions))
        } catch  where error.sqlState == .undefinedTable {
            return .reachable(missingMigrations: migrations.missingSchemaVersions(applied: []))
        } catch {
            return .unreachable(reason: error.logText)
        }
    }
}

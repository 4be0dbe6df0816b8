import PrivateCluster
import ServerProcess

/// Databases for tests of the service, in the cluster that this process's tests share.
package enum ServiceDatabase {
    /// `poi migrate` could not prepare the database.
    package struct MigrationFailed: Error {
        package let result: PoiProgram.Result
    }

    private static let template = Task {
        let database = try TestDatabase()
        let result = try await PoiProgram.run(
            ["migrate", "up", "--seeds"], environment: ["DATABASE_URL": database.connectionString])
        guard result.exitCode == 0 else { throw MigrationFailed(result: result) }
        return database
    }

    /// A fresh database with the schema and the seeds.
    package static func migrated() async throws -> TestDatabase {
        let template = try await template.value
        return try await offPool { try TestDatabase(template: template) }
    }

    /// A fresh database with nothing in it.
    package static func empty() async throws -> TestDatabase {
        try await offPool { try TestDatabase() }
    }
}

import Loopback
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

/// A database that counts its statements, of a cluster that this process's tests share.
///
/// By `pg_stat_statements`, which counts each statement as it ends: the counters of tables and indexes come
/// seconds later, when the session that has used them gets round to it.
struct StatementStatistics {
    private static let cluster = Task {
        let cluster = PrivateCluster(ephemeralWith: ["shared_preload_libraries": "pg_stat_statements"])
        try await offPool {
            try cluster.start()
            try cluster.createDatabase("counted")
        }
        let result = try await PoiProgram.run(
            ["migrate", "up", "--seeds"],
            environment: ["DATABASE_URL": cluster.connectionString(database: "counted")])
        #expect(result.exitCode == 0, "\(result)")
        try await offPool {
            _ = try cluster.execute("CREATE EXTENSION pg_stat_statements", database: "counted")
        }
        // The task keeps the cluster, which stops with its last reference.
        return cluster
    }

    /// A session with the database.
    let session: DatabaseSession
    /// A libpq URI of the database.
    let url: String

    init() async throws {
        url = try await Self.cluster.value.connectionString(database: "counted")
        session = try DatabaseSession(url)
    }

    /// How many statements so far have read places or their categories.
    func count() async throws -> Int {
        let rows = try await session.run(
            """
            SELECT coalesce(sum(calls), 0) FROM pg_stat_statements
            WHERE query ~ '\\m(locations|location_words|categories)\\M' AND query !~ 'pg_stat_statements'
                AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
            """)
        return try #require(rows.first.flatMap { Int($0) })
    }
}

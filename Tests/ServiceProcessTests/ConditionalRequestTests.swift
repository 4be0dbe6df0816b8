import Loopback
import PointsOfInterestClient
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Conditional requests", .timeLimit(.minutes(2)))
struct ConditionalRequestTests {
    /// Every kind of response that depends on the data, each with a second way to write the same request.
    private static let targets = [
        (secretTarget, secretTarget.replacing("&long=-121.88938642", with: "&long=-1.2188938642e2")),
        ("/locations?bbox=-122,37,-121,38&limit=5", "/locations?limit=5&bbox=-122.0,37,-1.21e2,38"),
        ("/locations?lat=37&long=-121&category=park,cafe", "/locations?long=-121&lat=37&category=cafe,park"),
        ("/locations?lat=37&long=-121&q=san%20jose", "/locations?q=san+jose&lat=37&long=-121"),
        ("/locations/84", "/locations/84"), ("/categories", "/categories"),
        ("/attributions", "/attributions"),
    ]

    private func get(_ target: String, tag: String, port: Int) async throws -> WireResponse {
        try await offPool {
            let connection = try WireClient(port: port)
            connection.send(
                "GET \(target) HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \"other\", \(tag)\r\n\r\n")
            return try connection.receiveResponse()
        }
    }

    @Test("A 304 asks the database for nothing, and stops with the next change of the data")
    func notModified() async throws {
        let statistics = try await StatementStatistics()
        let server = try await ServerProcess.serve(databaseURL: statistics.url)
        try await server.ready()
        var tags: [String] = []
        for (target, _) in Self.targets {
            let before = try await statistics.count()
            let response = try await ServiceFixtures.get(target, port: server.port)
            #expect(response.status == 200)
            tags.append(try #require(response.headers["etag"], "\(target)"))
            // This shows that the statistics count such statements at all.
            #expect(try await statistics.count() > before, "\(target)")
        }

        let before = try await statistics.count()
        for ((target, sameTarget), tag) in zip(Self.targets, tags) {
            for target in [target, sameTarget] {
                let response = try await get(target, tag: tag, port: server.port)
                #expect(response.status == 304, "\(target)")
                #expect(response.body.isEmpty)
                #expect(response.headers["etag"] == tag)
                #expect(response.headers["cache-control"] != nil)
                #expect(response.headers["vary"] != nil)
            }
        }
        #expect(try await statistics.count() == before)

        let changed = try await statistics.session.run(
            "UPDATE locations SET featured = NOT featured WHERE source_id = 'tech-interactive' RETURNING 1")
        #expect(changed == ["1"])
        for ((target, _), tag) in zip(Self.targets, tags) {
            // The service hears of the change a moment later.
            var response = try await get(target, tag: tag, port: server.port)
            while response.status == 304 {
                try Task.checkCancellation()
                response = try await get(target, tag: tag, port: server.port)
            }
            #expect(response.status == 200)
            #expect(response.headers["etag"] != tag)
        }
        #expect(try await statistics.count() > before)
        try await server.finish()
    }
}

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
            WHERE query ~ '\\m(locations|categories)\\M' AND query !~ 'pg_stat_statements'
                AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
            """)
        return try #require(rows.first.flatMap { Int($0) })
    }
}

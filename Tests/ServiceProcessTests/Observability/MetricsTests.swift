import Foundation
import Loopback
import Randomness
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Metrics", .timeLimit(.minutes(2)))
struct MetricsTests {
    private static let duration = "http_server_request_duration_seconds"

    @Test("Requests are counted by route, method and status, once each")
    func requests() async throws {
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString, environment: ["POI_LOOPS": "2"])
        try await server.ready()
        try await offPool { [port = server.port] in
            for _ in 0..<20 {
                let connection = try WireClient(port: port)
                for target in [secretTarget, "/locations/1", "/locations/2", "/locations?lat=x", "/nowhere"] {
                    connection.sendGet(target)
                    _ = try connection.receiveResponse()
                }
                connection.send("BREW /locations HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try connection.receiveResponse()
            }
        }
        var metrics = try await server.scrape()
        // A connection that was closed here is there until the server has noticed.
        while metrics.sum("poi_http_connections") != 0 {
            try Task.checkCancellation()
            metrics = try await server.scrape()
        }
        func count(_ labels: String...) -> Double {
            metrics["\(Self.duration)_count{\(labels.joined(separator: ","))}"] ?? 0
        }
        let get = #"http_request_method="GET""#
        #expect(count(#"http_route="/locations""#, get, #"http_response_status_code="200""#) == 20)
        #expect(count(#"http_route="/locations""#, get, #"http_response_status_code="400""#) == 20)
        #expect(count(#"http_route="/locations/{id}""#, get, #"http_response_status_code="200""#) == 40)
        #expect(count(#"http_route="""#, get, #"http_response_status_code="404""#) == 20)
        #expect(metrics.sum("\(Self.duration)_count", #"http_request_method="_OTHER""#) == 20)
        #expect(metrics.sum("\(Self.duration)_count") == 120)
        #expect(metrics.sum("\(Self.duration)_sum") > 0)
        #expect(metrics["poi_http_connections_limit"] == 10_000)
        for loop in 0...1 { #expect(metrics[#"poi_http_connections{loop="\#(loop)"}"#] == 0) }
        try await server.finish()
    }

    @Test("The database's failures, time-outs and waiting are counted")
    func database() async throws {
        let database = try await ServiceDatabase.migrated()
        let server = try await ServerProcess.serve(
            databaseURL: database.connectionString,
            environment: [
                "POI_INDEX": "off", "POI_LOOPS": "1", "POI_DB_STATEMENT_TIMEOUT": "200ms",
                "POI_DB_CONNECTIONS": "2",
            ])
        try await server.ready()
        let session = try DatabaseSession(database.connectionString)
        let timeouts = try await server.scrape().sum("poi_db_query_timeouts_total")
        try await session.lockPlaces()
        #expect(try await get(secretTarget, port: server.port).status == 504)
        try await session.unlockPlaces()
        let metrics = try await server.scrape()
        // On a busy machine, other queries may have had no more luck.
        #expect(metrics.sum("poi_db_query_timeouts_total") > timeouts)
        #expect(metrics.sum("poi_db_pool_connections", #"database="places""#) == 2)
        #expect(metrics.sum("poi_db_pool_connections", #"database="events""#) == 1)
        #expect(metrics[#"poi_database_reachable{database="places"}"#] == 1)
        // Without a database of their own for events, there are no metrics of one.
        #expect(metrics.sum("poi_database_reachable") == 1)

        try await session.run("ALTER TABLE locations RENAME TO elsewhere")
        #expect(try await get(secretTarget, port: server.port).status == 500)
        #expect(try await server.scrape()["poi_request_failures_total"] == 1)
        try await server.finish()
    }

    @Test("The dataset is a value, and no label: each commit would make a series otherwise")
    func dataset() async throws {
        let database = try await ServiceDatabase.migrated()
        let server = try await ServerProcess.serve(databaseURL: database.connectionString)
        try await server.ready()
        let bits = "('x' || left(replace(id::text, '-', ''), 13))::bit(52)::bigint"
        let fingerprint = try await DatabaseSession(database.connectionString).run(
            "SELECT \(bits) FROM dataset")
        let metrics = try await server.scrape()
        #expect(metrics["poi_dataset_fingerprint"] == fingerprint.first.flatMap { Double($0) })
        try await server.finish()
    }

    @Test("Prometheus' own linter has nothing to say")
    func promtool() async throws {
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString, environment: ["POI_INDEX": "on"])
        try await server.ready()
        for target in [secretTarget, "/nowhere", "/categories"] {
            _ = try await get(target, port: server.port)
        }
        // The last of the metrics that come later.
        while try await server.scrape()["poi_events_partition_left_seconds"] == nil {
            try Task.checkCancellation()
        }
        let text = try await get("/metrics", port: server.adminPort()).body
        // The strict reader of these tests has to agree; what promtool says on top counts where it is installed.
        let families = try PrometheusText(String(decoding: text, as: UTF8.self)).families
        #expect(families["process_start_time_seconds"] != nil)
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = folder.path + "/metrics"
        try text.write(to: URL(filePath: file))
        let linter = try ChildProgram(
            executable: "/bin/sh",
            arguments: [
                "-c",
                #"command -v promtool >/dev/null || exit 0; promtool check metrics <"$1""#, "sh", file,
            ],
            environment: [
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
            ])
        #expect(try await linter.exitCode() == 0, "\(linter.output.text)")
        #expect(linter.output.text == "")
        try await server.finish()
    }

    @Test("The metrics have those of the process, and how long there are partitions for events")
    func process() async throws {
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString, environment: ["POI_LOOPS": "2"])
        try await server.ready()
        let metrics = try await server.scrape()
        let start = try #require(metrics["process_start_time_seconds"])
        #expect(abs(start - Date.now.timeIntervalSince1970) < 3600)
        #expect(try #require(metrics["process_cpu_seconds_total"]) > 0)
        #expect(try #require(metrics["process_resident_memory_bytes"]) > 1_000_000)
        let open = try #require(metrics["process_open_fds"])
        #expect(open > 10)
        #expect(try #require(metrics["process_max_fds"]) >= open)
        #expect(metrics.sum("poi_build_info", #"version="0."#, #"swift="6."#) == 1)
        var seconds: Double?
        while seconds == nil {
            try Task.checkCancellation()
            seconds = try await server.scrape()["poi_events_partition_left_seconds"]
        }
        // This month and three more.
        #expect((89 * 86_400...123 * 86_400).contains(seconds ?? 0))
        // A loop that turns is late by little or nothing, twice a second.
        var lagCount = 0.0
        while lagCount < 2 {
            lagCount = min(
                try await server.scrape()[#"poi_event_loop_lag_seconds_count{loop="0"}"#] ?? 0,
                try await server.scrape()[#"poi_event_loop_lag_seconds_count{loop="1"}"#] ?? 0)
        }
        try await server.finish()
    }
}

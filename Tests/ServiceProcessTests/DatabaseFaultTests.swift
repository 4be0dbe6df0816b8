import Foundation
import Loopback
import PointsOfInterestClient
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

/// A service over a database that can be taken away, which no other test shares.
private struct FragileService {
    /// What the contract promises between the database's return and the service's.
    static let recoveryTime = Duration.seconds(2)
    private static let loops = 2
    private static let settings = ["POI_LOOPS": "\(loops)", "POI_DB_STATEMENT_TIMEOUT": "3s"]
    /// Without an index, 4 connections that read and one that writes events on every loop.
    static let connectionCount = loops * (4 + 1)

    private static let cluster = Task {
        // A stop at once would lose the migrations else: the last second of commits is nowhere but in memory.
        let cluster = PrivateCluster(ephemeralWith: ["synchronous_commit": "on"])
        try await offPool {
            try cluster.start()
            try cluster.createDatabase("places")
        }
        let result = try await PoiProgram.run(
            ["migrate", "up", "--seeds"],
            environment: ["DATABASE_URL": cluster.connectionString(database: "places")])
        #expect(result.exitCode == 0, "\(result)")
        return cluster
    }

    let cluster: PrivateCluster
    let server: ServerProcess

    init(_ environment: [String: String] = [:]) async throws {
        cluster = try await Self.cluster.value
        server = try await ServerProcess.serve(
            databaseURL: cluster.connectionString(database: "places"),
            environment: environment.merging(Self.settings) { $1 })
        try await server.ready()
    }

    func session() throws -> DatabaseSession { try DatabaseSession(server.databaseURL) }

    static let isOurs = "application_name = 'points-of-interest'"

    func waitForAllConnections() async throws {
        try await session().wait(
            until: "count(*) = \(Self.connectionCount) FROM pg_stat_activity WHERE \(Self.isOurs)")
    }
}

@Suite("When the database fails", .serialized, .timeLimit(.minutes(2)))
struct DatabaseFaultTests {
    @Test("Under load, no reader notices killed backends and a restart, and changes are followed again")
    func readers() async throws {
        let service = try await FragileService()
        let (server, cluster) = (service.server, service.cluster)
        let load = Load(port: server.port, connections: 32, target: secretTarget)
        try await offPool { load.wait(successes: 5) }
        try await service.session()
            .run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE \(FragileService.isOurs)")
        try await offPool {
            load.wait(successes: 10)
            try cluster.stopServer(.immediate)
            load.wait(successes: 10)
        }
        try await server.event("database-unreachable")
        let count = server.program.output.lines.count
        try await offPool { try cluster.startServer() }
        try await server.event("database-reachable", after: count)
        try await service.session().run(
            "INSERT INTO locations (name, category, latitude, longitude) VALUES ('New', 'park', 37.3293, -121.8893)"
        )
        while try await get(secretTarget, port: server.port).places?.contains(where: { $0.name == "New" })
            != true
        {
            try Task.checkCancellation()
        }
        let failures = try await offPool { load.stop().flatMap(\.self) }.filter { !$0.isSuccess }
        #expect(failures.isEmpty, "\(failures.prefix(3))")
        try await service.session().run("DELETE FROM locations WHERE name = 'New'")
        try await server.finish()
    }

    @Test("Without an index, killed backends and a restart cause only 503 problems, for a short time")
    func underLoad() async throws {
        let service = try await FragileService(["POI_INDEX": "off"])
        let (server, cluster) = (service.server, service.cluster)
        try await service.waitForAllConnections()
        let load = Load(port: server.port, connections: 32, target: secretTarget)
        let livez = Load(port: server.port, connections: 1, target: "/livez")
        try await offPool { load.wait(successes: 5) }

        let before = try await service.session()
            .run("SELECT pid FROM pg_stat_activity WHERE \(FragileService.isOurs)")
        try await service.session()
            .run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE \(FragileService.isOurs)")
        let killed = ContinuousClock.now
        try await offPool { load.wait(successes: 10) }
        try await service.waitForAllConnections()
        let after = try await service.session()
            .run("SELECT pid FROM pg_stat_activity WHERE \(FragileService.isOurs)")
        #expect(Set(before).isDisjoint(with: after))

        let stopped = ContinuousClock.now
        try await offPool {
            try cluster.stopServer(.immediate)
            load.wait(failures: 1)
            try cluster.startServer()
        }
        let returned = ContinuousClock.now
        let (outcomes, livezOutcomes) = try await offPool {
            load.wait(successes: 10)
            livez.wait(successes: 5)
            return (load.stop().flatMap(\.self), livez.stop().flatMap(\.self))
        }

        // On two processors a session that shares them with all others and with the load may get no turn for two seconds:
        // pg_stat_activity has it active, without a wait event. That is no fault.
        let late = outcomes.filter { $0.response?.status == 504 }
        #expect(late.count <= FragileService.connectionCount)
        let failures = outcomes.filter { !$0.isSuccess && $0.response?.status != 504 }
        check(failures: failures, log: server.program.output.lines(of: .standardError))
        #expect(livezOutcomes.allSatisfy { $0.isSuccess })
        #expect(failures.contains { $0.start > stopped })
        let recovery = FragileService.recoveryTime
        #expect(!failures.contains { $0.start > killed + recovery && $0.end < stopped })
        #expect(!failures.contains { $0.start > returned + recovery })
        #expect(outcomes.contains { $0.isSuccess && (returned...returned + recovery).contains($0.end) })

        try await service.waitForAllConnections()
        try await server.finish()
    }

    /// What a client may see of a failing database: a problem that says so and when to come back, in time.
    private func check(failures: [Load.Outcome], log: [String]) {
        for failure in failures {
            let id = failure.response?.headers["x-request-id"]
            // Thousands fail, so that the log is searched only for one that shouldn't.
            #expect(
                failure.response?.status == 503,
                "\(failure) \(log.filter { line in id.map(line.contains) ?? false })")
            #expect([.databaseUnavailable, .databaseBusy].contains(failure.response?.problem?.code))
            #expect(failure.response?.headers["retry-after"] != nil)
            // To wait for a connection and for a query are promised to take 1 s and 3 s at most.
            #expect(failure.end - failure.start < .seconds(5))
        }
    }

    @Test("While the database is away, requests fail at once, and the log says why once a reason")
    func awayForLong() async throws {
        let service = try await FragileService(["POI_INDEX": "off"])
        let (server, cluster) = (service.server, service.cluster)
        try await offPool { try cluster.stopServer() }
        let event = #"[{"user_id":"a","time":1.5,"event":{"name":"launch","value":{}}}]"#
        func fail() async throws -> [WireResponse] {
            [try await get(secretTarget, port: server.port), try await postEvents(event, port: server.port)]
        }
        // From these on the database has been away for longer than a request waits.
        for _ in 0..<2 { _ = try await fail() }
        let start = ContinuousClock.now
        for _ in 0..<10 {
            for response in try await fail() {
                #expect(response.status == 503 && response.problem?.code == .databaseUnavailable)
                #expect(response.headers["retry-after"] == "1")
            }
        }
        // If each waited for its second, this would take 20.
        #expect(ContinuousClock.now - start < .seconds(10))
        #expect(try await server.scrape()["poi_request_failures_total"] == 24)
        let reasons = server.program.output.lines(of: .standardError)
            .filter { $0.contains(#""event":"failure""#) }
            .map { $0.firstMatch(of: /failed: [^"]*/)?.output }
        #expect(reasons.count == Set(reasons).count && reasons.count >= 2, "\(reasons)")
        try await server.event("database-unreachable")
        let count = server.program.output.lines.count
        try await offPool { try cluster.startServer() }
        try await server.event("database-reachable", after: count)
        // Each loop has pools of its own, for places and for events.
        while try await get(secretTarget, port: server.port).status != 200 { try Task.checkCancellation() }
        while try await postEvents(event, port: server.port).status != 200 { try Task.checkCancellation() }
        try await server.finish()
    }

    @Test("A database that doesn't respond at the start is reported before every connection was tried")
    func silentAtStart() async throws {
        let silent = try SilentListener()
        let server = try await ServerProcess.serve(
            databaseURL: "postgresql://poi@127.0.0.1:\(silent.port)/places", environment: ["POI_LOOPS": "1"])
        try await server.event("database-unreachable")
        // Each takes 5 s, one after the other.
        #expect(
            try await server.scrape().sum("poi_db_pool_connect_failures_total", #"database="places""#) < 3)
        #expect(try await get("/readyz", port: server.port).problem?.code == .notReady)
        try await server.finish()
    }

    @Test("The service stays ready without its database, unless it is set to need it")
    func readiness() async throws {
        let tolerant = try await FragileService()
        let strict = try await FragileService(["POI_READY_REQUIRES_DATABASE": "true"])
        #expect(try await get("/readyz", port: strict.server.port).status == 200)
        let cluster = tolerant.cluster
        try await offPool { try cluster.stopServer() }
        for service in [tolerant, strict] { try await service.server.event("database-unreachable") }
        let response = try await get("/readyz", port: tolerant.server.port)
        #expect(response.status == 200)
        #expect(String(decoding: response.body, as: UTF8.self).contains(#""database":"unreachable""#))
        let refusal = try await get("/readyz", port: strict.server.port)
        #expect(refusal.status == 503)
        #expect(refusal.problem?.code == .notReady)

        let counts = [tolerant, strict].map { $0.server.program.output.lines.count }
        try await offPool { try cluster.startServer() }
        for (service, count) in zip([tolerant, strict], counts) {
            try await service.server.event("database-reachable", after: count)
            #expect(try await get("/readyz", port: service.server.port).status == 200)
            try await service.server.finish()
        }
    }
}

import Foundation
import Loopback
import PointsOfInterestClient
import ServerProcess
import ServiceFixtures
import Testing

/// What the line of a request in the log says about where its time went.
private struct RequestLine: Decodable {
    let event: String
    let path, source, server, waitedFor: String?
    let status: Int?
    let durationMs, waitMs, dbMs: Double?
}

@Suite("A request's line in the log", .timeLimit(.minutes(2)))
struct RequestLogTests {
    private static let trees = "/locations?lat=37.3&long=-121.9&featured=true&limit=2"

    private func start(
        _ environment: [String: String] = [:]
    ) async throws -> (ServerProcess, DatabaseSession, server: String) {
        let database = try await ServiceDatabase.migrated()
        let server = try await ServerProcess.serve(
            databaseURL: database.connectionString,
            environment: environment.merging(["POI_LOOPS": "1"]) { $1 })
        try await server.ready()
        let session = try DatabaseSession(database.connectionString)
        let folder = try #require(
            try await session.run("SHOW unix_socket_directories").first?.split(separator: ",").first)
        let port = try #require(try await session.run("SHOW port").first)
        return (server, session, "\(folder):\(port)")
    }

    /// The lines of all requests, once the server has ended.
    private func lines(of server: ServerProcess) async throws -> [RequestLine] {
        try await server.finish()
        return try server.program.output.lines(of: .standardError)
            .map { try JSONDecoder().decode(RequestLine.self, from: Data($0.utf8)) }
            .filter { $0.event == "request" }
    }

    @Test("The line says that places came from memory, also for a 304 and a 404")
    func memory() async throws {
        let (server, _, _) = try await start(["POI_INDEX": "on"])
        try await server.event("index-serving")
        let page = try await get(secretTarget, port: server.port)
        let tag = try #require(page.headers["etag"])
        let unchanged = try await offPool { [port = server.port] in
            let client = try WireClient(port: port)
            client.send("GET \(secretTarget) HTTP/1.1\r\nHost: a\r\nIf-None-Match: \(tag)\r\n\r\n")
            return try client.receiveResponse()
        }
        #expect(unchanged.status == 304)
        for (target, status) in [
            ("/locations/999999", 404), ("/categories", 200), ("/locations?lat=x", 400), ("/livez", 200),
        ] {
            #expect(try await get(target, port: server.port).status == status)
        }
        let lines = try await lines(of: server)
        #expect(lines.map(\.status) == [200, 304, 404, 200, 400, 200])
        #expect(lines.map(\.source) == ["memory", "memory", "memory", "memory", nil, nil])
        #expect(lines.allSatisfy { $0.dbMs == nil && $0.server == nil && $0.waitedFor == nil })
    }

    @Test("The line has the database's time, the time waited for a connection, and the server's name")
    func database() async throws {
        let (server, _, name) = try await start(["POI_INDEX": "off"])
        for target in [Self.trees, "/locations/84", "/categories"] {
            #expect(try await get(target, port: server.port).status == 200)
        }
        let event = TrackedEvent(
            userID: "F3476B52-160D-4CB9-9022-DE3B34E732EC", time: 1_536_753_250,
            event: TrackingEvent(EventContent(name: "launch")), isTest: true)
        let batch = String(decoding: EventsRequest(events: [event]).encode(), as: UTF8.self)
        #expect(try await postEvents(batch, port: server.port).status == 200)
        #expect(try await get("/livez", port: server.port).status == 200)
        let lines = try await lines(of: server)
        #expect(lines.count == 5)
        for line in lines.prefix(4) {
            let (duration, database) = (try #require(line.durationMs), try #require(line.dbMs))
            #expect(line.source == "database")
            #expect(database > 0 && (line.waitMs ?? 0) + database <= duration, "\(line)")
        }
        for line in [lines[0], lines[1], lines[3]] { #expect(line.waitMs != nil && line.server == name) }
        #expect(lines[4].source == nil && lines[4].waitMs == nil && lines[4].dbMs == nil)
    }

    @Test(
        "The line of a query that took too long names the query, and the problem describes it in general words"
    )
    func query() async throws {
        let (server, session, name) = try await start([
            "POI_INDEX": "off", "POI_DB_STATEMENT_TIMEOUT": "200ms",
        ])
        try await session.lockPlaces()
        let response = try await get(Self.trees, port: server.port)
        #expect(response.status == 504)
        #expect(response.problem?.detail == "A query took too long, and was given up.")
        try await session.unlockPlaces()
        let line = try #require(try await lines(of: server).first)
        #expect(line.source == "database" && line.server == name && line.waitedFor == "query")
        // A time-out counts from the loop's turn, which may have begun a while before the query was sent.
        #expect(try #require(line.dbMs) > 0)
    }

    @Test("The line says that the request waited for a connection if it got none in its time")
    func connection() async throws {
        let (server, session, _) = try await start([
            "POI_INDEX": "off", "POI_DB_CONNECTIONS": "1", "POI_REQUEST_TIMEOUT": "2s",
            "POI_DB_ACQUIRE_TIMEOUT": "2s",
        ])
        try await session.lockPlaces()
        let first = Task { [port = server.port] in try await get(Self.trees, port: port) }
        try await session.waitForBlockedQueries()
        let backend = try #require(
            try await session.run(
                """
                SELECT pid FROM pg_stat_activity WHERE application_name = 'points-of-interest'
                AND datname = current_database() AND wait_event_type = 'Lock'
                """
            ).first.flatMap { Int32($0) })
        // It keeps its connection beyond the end of its request, since it can't be cancelled.
        kill(backend, SIGSTOP)
        defer { kill(backend, SIGCONT) }
        #expect(try await first.value.status == 504)
        let response = try await get(Self.trees, port: server.port)
        #expect(response.status == 504)
        #expect(response.problem?.detail == "The request waited too long for a connection to the database.")
        kill(backend, SIGCONT)
        try await session.unlockPlaces()
        let line = try #require(try await lines(of: server).last)
        #expect(line.source == "database" && line.server == nil && line.waitedFor == "connection")
        #expect(try #require(line.waitMs) > 0 && line.dbMs == 0)
    }

    @Test("The line says that the request waited for a search in memory, or for its turn")
    func search() async throws {
        let database = try await ServiceDatabase.migrated()
        let session = try DatabaseSession(database.connectionString)
        try await session.run(
            """
            INSERT INTO locations (name, category, latitude, longitude)
            SELECT 'Place ' || n, 'cafe', n % 170 - 85, n % 359 - 179 FROM generate_series(1, 30000) AS n
            """)
        let server = try await ServerProcess.serve(
            databaseURL: database.connectionString,
            environment: ["POI_LOOPS": "1", "POI_INDEX": "on", "POI_REQUEST_TIMEOUT": "1ms"])
        try await server.event("index-serving")
        // Every name has to be looked at; several of one client wait for their turn.
        let target = "/locations/clusters?bbox=-180,-85,180,85&zoom=2&q=place"
        let responses = try await withThrowingTaskGroup(of: WireResponse.self) { group in
            for _ in 0..<6 { group.addTask { [port = server.port] in try await get(target, port: port) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let details = responses.filter { $0.status == 504 }.map(\.problem?.detail)
        #expect(!details.isEmpty)
        #expect(details.allSatisfy { $0?.hasPrefix("The search ") == true }, "\(details)")
        let lines = try await lines(of: server)
        #expect(lines.count == 6)
        for line in lines {
            #expect(line.source == "memory" && line.dbMs == nil && line.server == nil)
            if line.status == 504 { #expect(["turn", "search"].contains(line.waitedFor)) }
        }
        #expect(lines.contains { $0.waitMs != nil })
    }
}

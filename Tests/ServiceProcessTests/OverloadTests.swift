import Foundation
import PointsOfInterestClient
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Under a lock that stops every query", .timeLimit(.minutes(2)))
struct OverloadTests {
    /// A service on one loop, and a session that can stop its queries.
    private func start(_ environment: [String: String]) async throws -> (ServerProcess, DatabaseSession) {
        let database = try await ServiceDatabase.migrated()
        let server = try await ServerProcess.serve(
            databaseURL: database.connectionString,
            environment: environment.merging(["POI_LOOPS": "1"]) { $1 })
        try await server.ready()
        return (server, try DatabaseSession(database.connectionString))
    }

    @Test("A query that takes too long is a 504, and is cancelled in the database")
    func queryTimeout() async throws {
        let (server, session) = try await start(["POI_DB_STATEMENT_TIMEOUT": "2s"])
        try await session.lockPlaces()
        let response = try await get(secretTarget, port: server.port)
        #expect(response.status == 504)
        #expect(response.problem?.code == .queryTimeout)
        try await session.waitForNoBlockedQuery()
        #expect(try await get("/livez", port: server.port).status == 200)
        try await session.unlockPlaces()
        #expect(try await get(secretTarget, port: server.port).status == 200)
        try await server.finish()
    }

    @Test("A request beyond the limit of requests in flight gets a 503 at once, except for health")
    func inFlightLimit() async throws {
        let (server, session) = try await start([
            "POI_MAX_IN_FLIGHT": "1", "POI_DB_STATEMENT_TIMEOUT": "60s", "POI_REQUEST_TIMEOUT": "60s",
        ])
        try await session.lockPlaces()
        let first = Task { [port = server.port] in try await get(secretTarget, port: port) }
        try await session.waitForBlockedQueries()
        for _ in 0..<3 {
            let response = try await get(secretTarget, port: server.port)
            #expect(response.status == 503)
            #expect(response.problem?.code == .overloaded)
            #expect(response.headers["retry-after"] != nil)
            #expect(try await get("/livez", port: server.port).status == 200)
            #expect(try await get("/readyz", port: server.port).status == 200)
        }
        try await session.unlockPlaces()
        #expect(try await first.value.status == 200)
        #expect(try await get(secretTarget, port: server.port).status == 200)
        try await server.finish()
    }

    @Test("A request that gets no database connection in time is a 503, the others get their responses")
    func acquireTimeout() async throws {
        let (server, session) = try await start([
            "POI_DB_FAST_CONNECTIONS": "1", "POI_DB_ACQUIRE_TIMEOUT": "200ms",
            "POI_DB_STATEMENT_TIMEOUT": "60s", "POI_REQUEST_TIMEOUT": "60s",
        ])
        // From here on it is known that there are places near, so that one query in the fast lane finds them.
        #expect(try await get(secretTarget, port: server.port).status == 200)
        try await session.lockPlaces()
        // 32 queries go down one connection; the others wait for a place in vain.
        let requests = (0..<40).map { _ in
            Task { [port = server.port] in try await get(secretTarget, port: port) }
        }
        try await server.logLines(8) { $0.contains(#""status":503"#) }
        try await session.unlockPlaces()
        var responses: [WireResponse] = []
        for request in requests { responses.append(try await request.value) }
        #expect(responses.count { $0.status == 200 } == 32)
        let refused = responses.filter { $0.status != 200 }
        #expect(refused.allSatisfy { $0.problem?.code == .databaseBusy && $0.headers["retry-after"] != nil })
        try await server.finish()
    }
}

import Foundation
import PointsOfInterestClient
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Events through the real process", .timeLimit(.minutes(2)))
struct EventProcessTests {
    private static let user = "F3476B52-160D-4CB9-9022-DE3B34E732EC"

    private static func batch(_ count: Int, name: String = "launch", isTest: Bool = false) throws -> String {
        let events = (0..<count).map { number in
            TrackedEvent(
                userID: user, time: 1_536_753_250.92 + Double(number),
                event: TrackingEvent(EventContent(name: name)), isTest: isTest)
        }
        return String(decoding: EventsRequest(events: events).encode(), as: UTF8.self)
    }

    private static func response(_ response: WireResponse) throws -> EventsResponse {
        #expect(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
        return try JSONDecoder().decode(EventsResponse.self, from: response.body)
    }

    @Test(
        "The response comes after the commit: the events that it counts are there after the server was killed"
    )
    func committed() async throws {
        let database = try await ServiceDatabase.migrated()
        let server = try await ServerProcess.serve(databaseURL: database.connectionString)
        try await server.ready()
        let batch = try Self.batch(100)
        let first = try await Self.response(postEvents(batch, port: server.port))
        server.program.send(signal: SIGKILL)
        #expect(first == EventsResponse(accepted: 100, duplicates: 0))
        #expect(try await server.program.exitCode() == 128 + SIGKILL)
        let session = try DatabaseSession(database.connectionString)
        #expect(try await session.run("SELECT count(*) FROM events") == ["100"])
    }

    @Test("Nothing that the process writes has any content of an event, whatever becomes of the event")
    func silence() async throws {
        let database = try await ServiceDatabase.migrated()
        let server = try await ServerProcess.serve(
            databaseURL: database.connectionString, environment: ["POI_EVENTS_STATEMENT_TIMEOUT": "3s"])
        try await server.ready()
        let secret = "secret-word"
        let good =
            #"{"user_id":"\#(secret)","time":1.5,"event":{"name":"\#(secret)","value":{"\#(secret)":1}}}"#
        #expect(try await postEvents("[\(good)]", port: server.port).status == 200)
        #expect(try await postEvents("[{\"user_id\":\"\(secret)\"}]", port: server.port).status == 422)
        #expect(try await postEvents("[\"\(secret)\"", port: server.port).status == 400)
        let session = try DatabaseSession(database.connectionString)
        // Errors of the database: a statement that is ended, one that is refused, a connection that is lost.
        try await session.run("BEGIN; LOCK TABLE events")
        #expect(try await postEvents("[\(good)]", port: server.port).status == 503)
        try await session.run("ROLLBACK")
        try await session.run("ALTER TABLE events ADD CONSTRAINT nothing CHECK (name = 'nothing') NOT VALID")
        #expect(
            try await postEvents("[\(good.replacing("1.5", with: "2.5"))]", port: server.port).status == 500)
        try await session.run("ALTER TABLE events RENAME TO other_events")
        #expect(
            try await postEvents("[\(good.replacing("1.5", with: "3.5"))]", port: server.port).status == 500)
        try await server.finish()
        #expect(!server.program.output.text.contains(secret))
    }

    @Test("With a hash key, no table has a user's id, and the same user has the same hash on every server")
    func hashed() async throws {
        let database = try await ServiceDatabase.migrated()
        let key = "0123456789abcdef0123456789abcdef"
        for _ in 0..<2 {
            let server = try await ServerProcess.serve(
                databaseURL: database.connectionString, environment: ["POI_EVENTS_HASH_KEY": key])
            try await server.ready()
            _ = try await Self.response(postEvents(Self.batch(1), port: server.port))
            try await server.finish()
            #expect(!server.program.output.text.contains(key))
        }
        let session = try DatabaseSession(database.connectionString)
        let rows = try await session.run("SELECT count(*), count(DISTINCT user_id), min(user_id) FROM events")
        // printf F3476B52-… | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
        #expect(rows == ["2|1|da960eae51e311696c5d973433373df0e5c883948ed0f6731032210d1782b163"])
    }

    @Test("Places are served while every batch of events waits")
    func readsGoOn() async throws {
        let database = try await ServiceDatabase.migrated()
        let server = try await ServerProcess.serve(
            databaseURL: database.connectionString,
            environment: ["POI_LOOPS": "1", "POI_MAX_IN_FLIGHT": "4", "POI_EVENTS_STATEMENT_TIMEOUT": "60s"])
        try await server.ready()
        let session = try DatabaseSession(database.connectionString)
        try await session.run("BEGIN; LOCK TABLE events")
        let batch = try Self.batch(10)
        try await withThrowingTaskGroup(of: Int.self) { group in
            // As many batches as may be in flight wait, and the fifth is refused.
            for _ in 0..<5 { group.addTask { try await postEvents(batch, port: server.port).status } }
            #expect(try await group.next() == 503)
            #expect(try await postEvents("[\(Self.lateEvent)]", port: server.port).status == 503)
            #expect(try await get(secretTarget, port: server.port).status == 200)
            try await session.run("ROLLBACK")
            #expect(try await group.reduce(into: []) { $0.append($1) } == [200, 200, 200, 200])
        }
        try await server.finish()
    }

    private static let lateEvent = #"{"user_id":"u","time":1,"event":{"name":"launch"}}"#
}

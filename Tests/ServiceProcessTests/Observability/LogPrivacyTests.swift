import Foundation
import Loopback
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

/// Requests with one centre, in every way that a client may write it, and the status of each response.
private struct TellingRequests {
    static let latitude = "37.32931357"
    static let longitude = "-121.88938642"
    private static let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    /// What gives the place away, wherever the point and the sign are.
    static let signs = ["37.3293", "121.8893", "3732931", "12188938", "3.7329", "1.2188", "37%2E3293"]

    /// Targets of all routes, well-formed and not.
    static let targets: [String] = {
        let query = "lat=\(latitude)&long=\(longitude)"
        return [
            "/locations?\(query)", "/locations?\(query)&limit=1&q=cafe&radius=500&featured=true",
            "/locations?lat=3.732931357e1&long=-1.2188938642E2",
            "/locations?lat=%2B\(latitude)&long=\(longitude)",
            "/locations?lat=0000\(latitude)000&long=\(longitude)",
            "/locations?lat=%33%37.32931357&long=\(longitude)",
            "/locations?bbox=\(longitude),\(latitude),-121.8,37.4",
            "/locations?lat=\(longitude)&long=\(latitude)",
            "/locations?lat=\(latitude)", "/locations?\(query)&bbox=1,2,3,4",
            "/locations?\(query)&\(latitude)=1",
            "/locations?lat=\(latitude)N&long=\(longitude)", "/locations?\(query)&category=\(latitude)",
            "/locations?\(query)&cursor=\(latitude)", "/locations/\(latitude),\(longitude)",
            "/locations/84?\(query)", "/locations/84?lat=\(latitude)", "/locations%3F\(query)",
            "/\(latitude)",
            "/categories?\(query)", "/?\(query)", "/livez?\(query)", "/readyz?\(query)",
            "/openapi.json?\(query)",
            "/problems?\(query)", "/problems/\(latitude)", "/nowhere?\(query)", "/locations;\(query)",
        ]
    }()

    static func request(_ method: String, _ target: String) -> String {
        let fields = [
            "Host: a", "Traceparent: \(trace)", "Referer: http://a/?\(latitude)",
            "If-None-Match: \"\(latitude)\"",
            "Connection: close",
        ]
        return "\(method) \(target) HTTP/1.1\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n"
    }

    /// Sends all of them, and some that can't be read; returns the statuses that came.
    static func send(to port: Int) async throws -> Set<Int> {
        try await offPool {
            let unreadable = [
                "GET /locations?lat=\(latitude) HTTP/1.1\r\n\r\n", "GET /\(latitude) HTTP/9\r\n\r\n",
                "GET /locations?lat=\(latitude) \(longitude) HTTP/1.1\r\nHost: a\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nX-\(latitude): \(longitude)\u{1}\r\n\r\n",
                "\(latitude)\r\n\r\n",
            ]
            var statuses: Set<Int> = []
            for request in ["GET", "HEAD", "POST", "OPTIONS"].flatMap({ method in
                targets.map { Self.request(method, $0) }
            }) + unreadable {
                let connection = try WireClient(port: port)
                connection.send(request)
                var bytes: [UInt8] = []
                _ = try connection.receive(toEndInto: &bytes)
                if let status = Int(String(decoding: bytes.dropFirst(9).prefix(3), as: UTF8.self)) {
                    statuses.insert(status)
                }
            }
            return statuses
        }
    }
}

/// A line of the log, as its readers decode it.
private struct LogLine: Decodable {
    let time, level, event: String
    let method, route, requestId, traceId, client, center, bbox, message: String?
    let status: Int?
}

@Suite("The contents of the log", .timeLimit(.minutes(2)))
struct LogPrivacyTests {
    private func start(_ environment: [String: String]) async throws -> (ServerProcess, DatabaseSession) {
        let database = try await ServiceDatabase.migrated()
        let server = try await ServerProcess.serve(
            databaseURL: database.connectionString,
            environment: environment.merging([
                "POI_INDEX": "off", "POI_DB_STATEMENT_TIMEOUT": "200ms", "POI_LOOPS": "1",
            ]) { $1 })
        // In either format.
        _ = try await server.program.output.line { $0.text.contains("all migrations are applied") }
        return (server, try DatabaseSession(database.connectionString))
    }

    /// All that may go wrong with a request from a place: refused, not found, timed out, and failed by an error of the
    /// database's that quotes the place.
    private func sendEverything(to server: ServerProcess, _ session: DatabaseSession) async throws {
        let statuses = try await TellingRequests.send(to: server.port)
        #expect(statuses.isSuperset(of: [200, 400, 404, 405]), "\(statuses)")
        let target = "/locations?lat=\(TellingRequests.latitude)&long=\(TellingRequests.longitude)"
        try await session.lockPlaces()
        #expect(try await get(target, port: server.port).status == 504)
        try await session.unlockPlaces()
        try await session.run(
            """
            ALTER TABLE locations RENAME TO places;
            CREATE FUNCTION fail() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
            RAISE EXCEPTION 'transform: no point (\(TellingRequests.latitude) \(TellingRequests.longitude) 0)'
            USING DETAIL = '\(TellingRequests.latitude)', HINT = '\(TellingRequests.latitude)'; END $$;
            CREATE VIEW locations AS SELECT * FROM places WHERE fail()
            """)
        #expect(try await get(target, port: server.port).status == 500)
        // 120 requests, and the end, so that all lines have been written.
        #expect(try await server.stop() == 0)
    }

    private func expectNoPlace(in server: ServerProcess) {
        let telling = server.program.output.lines.map(\.text).filter { line in
            TellingRequests.signs.contains { line.contains($0) }
        }
        #expect(telling.isEmpty, "\(telling.prefix(10).joined(separator: "\n"))")
        server.expectSoundOutput()
    }

    @Test("Every line is JSON, those of a request have its id and its trace, and none has a position")
    func json() async throws {
        let (server, session) = try await start([:])
        try await sendEverything(to: server, session)
        expectNoPlace(in: server)
        let lines = try server.program.output.lines(of: .standardError).map {
            try JSONDecoder().decode(LogLine.self, from: Data($0.utf8))
        }
        #expect(lines.count { $0.event == "request" } == TellingRequests.targets.count * 4 + 5 + 2)
        #expect(
            lines.filter { $0.event == "request" }.allSatisfy { $0.requestId != nil && $0.message == nil })
        #expect(
            lines.count { $0.traceId == "4bf92f3577b34da6a3ce929d0e0e4736" } == TellingRequests.targets.count
                * 4)
        let failure = try #require(lines.last { $0.event == "failure" })
        #expect(failure.requestId != nil)
        #expect(failure.message?.contains("P0001") == true)
        #expect(failure.message?.contains("transform: no point (… … …)") == true)
        #expect(lines.last?.event == "stopped")
    }

    @Test("A line in the text format has no position either")
    func text() async throws {
        let (server, session) = try await start(["POI_LOG_FORMAT": "text"])
        try await sendEverything(to: server, session)
        expectNoPlace(in: server)
    }

    @Test("A client's address is logged only to its network if that is set, also of a refused request")
    func client() async throws {
        let (server, _) = try await start(["POI_LOG_CLIENT": "network"])
        // Some are refused before they are read.
        _ = try await TellingRequests.send(to: server.port)
        #expect(try await server.stop() == 0)
        let lines = server.program.output.lines(of: .standardError)
        let requests = try lines.map { try JSONDecoder().decode(LogLine.self, from: Data($0.utf8)) }
            .filter { $0.event == "request" }
        #expect(requests.count > 100)
        #expect(requests.allSatisfy { $0.client == "127.0.0.0/24" })
        #expect(!lines.contains { $0.contains("127.0.0.1") && $0.contains(#""event":"request""#) })
    }

    @Test("A request's position is logged only if that is set, to a tenth of a degree or as it was sent")
    func wanted() async throws {
        for (setting, center, box) in [
            ("coarse", "37.3,-121.9", "-121.9,37.3,-121.8,37.4"),
            ("full", "37.32931357,-121.88938642", "-121.88938642,37.32931357,-121.8,37.4"),
        ] {
            let (server, _) = try await start(["POI_LOG_COORDINATES": setting])
            let query = "lat=\(TellingRequests.latitude)&long=\(TellingRequests.longitude)"
            let boxed = "bbox=\(TellingRequests.longitude),\(TellingRequests.latitude),-121.8,37.4"
            for target in [
                "/locations?\(query)", "/locations/84?\(query)", "/locations?\(boxed)", "/livez?\(query)",
            ] {
                _ = try await get(target, port: server.port)
            }
            #expect(try await server.stop() == 0)
            let lines = try server.program.output.lines(of: .standardError).map {
                try JSONDecoder().decode(LogLine.self, from: Data($0.utf8))
            }
            .filter { $0.event == "request" }
            #expect(lines.map(\.center) == [center, center, nil, nil])
            #expect(lines.map(\.bbox) == [nil, nil, box, nil])
            if setting == "coarse" { expectNoPlace(in: server) }
        }
    }
}

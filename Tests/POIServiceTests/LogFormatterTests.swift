import EventLoop
import Foundation
import Testing

@testable import HTTPServer
@testable import POIService
@testable import Telemetry

@Suite("Log lines")
struct LogFormatterTests {
    /// A request's line as a reader of the log decodes it.
    private struct Line: Decodable, Equatable {
        let time, level, event: String
        var method, path, route, requestId, traceId, client, message, url, database, reason: String?
        var source, server: String?
        var status, requestBytes, responseBytes: Int?
        var durationMs, waitMs, dbMs: Double?
    }

    private static let time = Timestamp(seconds: 1_795_224_933, milliseconds: 250)
    private static let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    /// Everything that breaks a line or a format somewhere.
    private static let hostilePath =
        "/a\n2026 GET /fake 200\r\t\"\\\u{0}\u{1B}[31m\u{7F}\u{85}\u{9B}\u{2028}é\u{1F600}"

    private func request(
        path: String?, route: String? = "/locations", status: HTTPStatus? = .ok
    ) -> RequestObservation {
        RequestObservation(
            method: path == nil ? nil : .get, path: path, routeTemplate: path == nil ? nil : route,
            status: status, duration: .microseconds(1234), requestBodyBytes: 0, responseBytes: 321,
            requestID: "id-1", traceParent: TraceParent(Self.trace), remoteAddress: "127.0.0.1")
    }

    private func json(_ observation: RequestObservation) throws -> Line {
        try decoded(RequestLogFormatter(isJSON: true).line(for: observation, at: Self.time))
    }

    private func json(_ observation: Observation) throws -> Line {
        try decoded(LogFormatter(isJSON: true).line(for: observation, at: Self.time))
    }

    private func decoded(_ bytes: [UInt8]) throws -> Line {
        #expect(bytes.filter { $0 < 0x20 } == [UInt8(ascii: "\n")])
        #expect(bytes.last == UInt8(ascii: "\n"))
        return try JSONDecoder().decode(Line.self, from: Data(bytes))
    }

    @Test("The JSON line of a request has its fields")
    func requestJSON() throws {
        #expect(
            try json(request(path: "/locations"))
                == Line(
                    time: "2026-11-21T01:35:33.250Z", level: "info", event: "request", method: "GET",
                    path: "/locations", route: "/locations", requestId: "id-1",
                    traceId: "4bf92f3577b34da6a3ce929d0e0e4736", client: "127.0.0.1", status: 200,
                    requestBytes: 0, responseBytes: 321, durationMs: 1.234))
    }

    @Test("A line says where the data came from, and what the request waited for, in both formats")
    func waits() throws {
        let waits = TaskWaits()
        waits.addConnection(nanoseconds: 1_250_999)
        waits.addTurn(nanoseconds: 1000)
        waits.addQuery(nanoseconds: 20_000_000, server: "a:1")
        waits.addQuery(nanoseconds: 345_000, server: "[::1]:5432\n")
        func observation(_ source: RequestObservation.Source?, _ times: WaitTimes?) -> RequestObservation {
            RequestObservation(
                method: .get, path: "/locations", routeTemplate: "/locations", status: .ok,
                duration: .zero, requestBodyBytes: 0, responseBytes: 0, requestID: "id-1",
                traceParent: nil, remoteAddress: nil, source: source, waits: times)
        }
        let line = try json(observation(.database, waits.times))
        #expect(line.source == "database" && line.server == "[::1]:5432\n")
        #expect(line.waitMs == 1.251 && line.dbMs == 20.345)
        let text = RequestLogFormatter(isJSON: false).line(
            for: observation(.database, waits.times), at: Self.time)
        #expect(
            String(decoding: text, as: UTF8.self).hasSuffix(
                "id-1 source=database waitMs=1.251 dbMs=20.345 server=[::1]:5432 \n"))
        for source in [RequestObservation.Source.memory, nil] {
            let line = try json(observation(source, nil))
            #expect(line.source == source?.rawValue)
            #expect(line.waitMs == nil && line.dbMs == nil && line.server == nil)
        }
    }

    @Test(
        "A client's address is logged as far as it is allowed",
        arguments: [
            ("203.0.113.77", "203.0.113.0/24"), ("::ffff:203.0.113.77", "203.0.113.0/24"),
            ("198.51.100.9", "198.51.100.0/24"),
            ("2001:db8:7:8:9:a:b:c", "2001:db8:7::/48"), ("2001:db8::1", "2001:db8::/48"),
            ("fe80::1%eth0", "fe80::/48"), ("::1", "::/48"), ("nonsense", nil), (nil, nil),
        ] as [(String?, String?)])
    func client(address: String?, network: String?) throws {
        for (client, expected) in [(LoggedClient.full, address), (.network, network), (.off, nil)] {
            let observation = RequestObservation(
                method: .get, path: "/", routeTemplate: "/", status: .ok, duration: .zero,
                requestBodyBytes: 0,
                responseBytes: 0, requestID: "id-1", traceParent: nil, remoteAddress: address)
            for isJSON in [true, false] {
                let bytes = RequestLogFormatter(isJSON: isJSON, client: client).line(
                    for: observation, at: Self.time)
                if isJSON {
                    #expect(try JSONDecoder().decode(Line.self, from: Data(bytes)).client == expected)
                }
                if let address, address != expected {
                    #expect(!String(decoding: bytes, as: UTF8.self).contains(address))
                }
            }
        }
    }

    @Test("A hostile path is logged unchanged, in one line of JSON")
    func hostileJSON() throws {
        let observation = request(path: Self.hostilePath, route: Self.hostilePath)
        #expect(try json(observation).path == Self.hostilePath)
    }

    @Test(
        "A path is logged only up to a part that may be coordinates",
        arguments: [
            ("/locations/42", "/locations/42"), ("/locations", "/locations"), ("/", "/"),
            ("/a_b/C-9", "/a_b/C-9"),
            ("/locations%3Flat=37.32&long=-121.88", "/…"), ("/locations/37.32,-121.88", "/locations/…"),
            ("/locations/37.32/-121.88/x", "/locations/…"), ("/locations/1;lat=3", "/locations/…"),
            ("/x/%33%37", "/x/…"), ("*", "*"), ("/37.32", "/…"),
        ])
    func positions(path: String, logged: String) throws {
        for route in [nil, "/locations/{id}"] {
            #expect(try json(request(path: path, route: route)).path == logged)
            let text = RequestLogFormatter(isJSON: false).line(
                for: request(path: path, route: route), at: Self.time)
            #expect(String(decoding: text, as: UTF8.self).contains(" GET \(logged) 200 "))
        }
        #expect(try json(request(path: "/openapi.json", route: "/openapi.json")).path == "/openapi.json")
    }

    @Test("A request that couldn't be parsed, or whose client has gone, has a line too")
    func unreadable() throws {
        let line = try json(request(path: nil, status: nil))
        #expect(line.method == nil)
        #expect(line.path == nil)
        #expect(line.status == nil)
        #expect(line.requestId == "id-1")
        let text = RequestLogFormatter(isJSON: false).line(
            for: request(path: nil, status: nil), at: Self.time)
        #expect(
            String(decoding: text, as: UTF8.self)
                == "2026-11-21T01:35:33.250Z - - gone 1.234ms 321B id-1 4bf92f3577b34da6a3ce929d0e0e4736\n")
    }

    @Test("Every other observation has a level, a name and a message, in both formats")
    func otherObservations() throws {
        let hostile = "x\ny\"\\\u{1B}"
        let examples: [(Observation, level: String, event: String)] = [
            (.listening(url: "http://127.0.0.1:8080"), "info", "listening"),
            (.adminListening(url: "http://127.0.0.1:9464"), "info", "admin-listening"),
            (.failure(requestID: "id-1", reason: hostile), "error", "failure"),
            (.databaseReachable(.places), "info", "database-reachable"),
            (.databaseUnreachable(.events, reason: hostile), "warning", "database-unreachable"),
            (
                .databaseConnectFailed(.places, kind: "tls", reason: hostile), "warning",
                "database-connect-failed"
            ),
            (.databaseConnectionLost(.events, reason: hostile), "warning", "database-connection-lost"),
            (.databaseNotice(.places, hostile), "info", "database-notice"),
            (.migrationsMissing(["0003"]), "warning", "migrations-missing"),
            (.databaseByDefault(target: "port=5432"), "info", "database-by-default"),
            (.migrationsApplied, "info", "migrations-applied"),
            (.stopping(signal: "SIGTERM", drainDelay: .seconds(5)), "info", "stopping"),
            (.finishing, "info", "finishing"), (.cutOff(connections: 2), "warning", "cut-off"),
            (.stopped, "info", "stopped"),
            (.logLinesDropped(3), "warning", "log-lines-dropped"),
        ]
        for (observation, level, event) in examples {
            let line = try json(observation)
            #expect(line.level == level)
            #expect(line.event == event)
            #expect(line.message?.isEmpty == false)
            expectOneLine(LogFormatter(isJSON: false).line(for: observation, at: Self.time))
        }
        let connectFailed = try json(.databaseConnectFailed(.events, kind: "tls", reason: hostile))
        #expect(connectFailed.database == "events")
        #expect(connectFailed.reason == "tls")
        #expect(try json(.databaseReachable(.places)).database == "places")
        let failure = try json(.failure(requestID: "id-1", traceID: "trace-1", reason: hostile))
        #expect(failure.requestId == "id-1")
        #expect(failure.traceId == "trace-1")
        #expect(try json(.adminListening(url: "http://127.0.0.1:9464")).url == "http://127.0.0.1:9464")
        #expect(try json(.failure(requestID: "id-1", reason: hostile)).message?.contains(hostile) == true)
    }

    @Test("No client can forge lines or terminal commands in a text log")
    func hostileText() {
        let line = RequestLogFormatter(isJSON: false).line(
            for: request(path: Self.hostilePath, route: Self.hostilePath), at: Self.time)
        expectOneLine(line)
        #expect(
            String(decoding: line, as: UTF8.self).hasSuffix(
                " 200 1.234ms 321B id-1 4bf92f3577b34da6a3ce929d0e0e4736\n"))
    }

    private func expectOneLine(_ bytes: [UInt8], _ location: SourceLocation = #_sourceLocation) {
        let controls = String(decoding: bytes, as: UTF8.self).unicodeScalars.dropLast()
            .filter {
                [.control, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            }
        #expect(Array(controls) == [], sourceLocation: location)
        #expect(bytes.last == UInt8(ascii: "\n"), sourceLocation: location)
    }

    @Test(
        "Times are formatted by RFC 3339 in UTC, with milliseconds",
        arguments: [
            (0, 0, "1970-01-01T00:00:00.000Z"), (-1, 999, "1969-12-31T23:59:59.999Z"),
            (951_782_400, 7, "2000-02-29T00:00:00.007Z"), (4_102_444_799, 50, "2099-12-31T23:59:59.050Z"),
        ])
    func timestamps(seconds: Int, milliseconds: Int, text: String) {
        #expect(Timestamp(seconds: seconds, milliseconds: milliseconds).rfc3339 == text)
    }

    @Test("The time of a log line is the system's time now")
    func now() throws {
        let before = Date.now.addingTimeInterval(-0.001)
        let now = try Date(
            Timestamp.now.rfc3339,
            strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true))
        #expect(now >= before)
        #expect(now <= Date.now)
    }
}

@Suite("Messages without numbers")
struct RedactingNumbersTests {
    @Test(
        "Numbers that may be coordinates are removed from a message, and the description of the fault stays",
        arguments: [
            ("", ""),
            ("relation \"locations\" does not exist", "relation \"locations\" does not exist"),
            ("no point (37.3293 -121.8893 0)", "no point (… … …)"),
            ("lat=37.3293,long=-121.8893", "lat=…,long=…"),
            ("37.3293,-121.8893", "…,…"), ("+37", "…"), (".5", "…"), ("3.7e+1 x", "… x"),
            ("POINT(-121.8893 37.3293)", "POINT(… …)"),
            ("0101000020E6100000C7BAB88D06785EC0", "…"),
            ("function float8(text) of cube_2 fails", "function float8(text) of cube_2 fails"),
            ("a37.5", "a37…"),
            ("\"37.3293\" is no number", "\"…\" is no number"), ("37°19'45\"N", "…°…'…\"N"),
            ("value −37.3293", "value −…"),
        ])
    func redaction(text: String, expected: String) {
        #expect(text.redactingNumbers == expected)
    }
}

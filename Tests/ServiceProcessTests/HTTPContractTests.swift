import Foundation
import Loopback
import PointsOfInterestClient
import ServerProcess
import ServiceFixtures
import Testing

@Suite("The service on the wire", .timeLimit(.minutes(2)))
struct HTTPContractTests {
    private static let origin = "https://map.example"
    private static let routes = [
        secretTarget, "/locations?bbox=-122,37,-121,38", "/locations/1", "/categories", "/", "/problems",
        "/problems/not-found", "/livez", "/readyz",
    ]

    private func start(_ environment: [String: String] = [:]) async throws -> ServerProcess {
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString, environment: environment)
        try await server.ready()
        return server
    }

    @Test("Every response has Vary, and the fields that let a listed origin read it")
    func fieldsOfEveryAnswer() async throws {
        let server = try await start(["POI_CORS_ORIGINS": Self.origin])
        let requests: [(method: String, target: String, fields: [String], status: Int)] = [
            ("GET", secretTarget, [], 200), ("GET", "/livez", [], 200), ("GET", "/", [], 200),
            ("GET", "/locations?lat=x", [], 400), ("GET", "/nowhere", [], 404),
            ("POST", "/categories", [], 405),
            ("GET", secretTarget, ["Accept: text/x"], 406), ("GET", "/problems", ["If-None-Match: *"], 304),
            ("OPTIONS", secretTarget, [], 204),
            ("OPTIONS", secretTarget, ["Access-Control-Request-Method: GET"], 204),
            ("OPTIONS", "*", [], 204), ("GET", secretTarget, ["Accept-Encoding: *;q=0"], 406),
        ]
        for (method, target, fields, status) in requests {
            let response = try await ask(
                method, target, fields + ["Origin: \(Self.origin)", "X-Request-Id: mine"], port: server.port)
            #expect(response.status == status, "\(method) \(target)")
            #expect(response.headers["vary"] == "Accept, Accept-Encoding, Origin", "\(method) \(target)")
            #expect(response.headers["access-control-allow-origin"] == Self.origin, "\(method) \(target)")
            #expect(response.headers["x-request-id"] == "mine", "\(method) \(target)")
            #expect(response.headers["date"] != nil)
            #expect((response.problem != nil) == (status >= 400), "\(method) \(target)")
        }
        let unreadable = try await offPool { [port = server.port] in
            let connection = try WireClient(port: port)
            connection.send("GET / HTTP/1.1\r\n\r\n")
            return try connection.receiveResponse()
        }
        #expect(unreadable.status == 400)
        #expect(unreadable.headers["vary"] == "Accept, Accept-Encoding, Origin")
        try await server.finish()
    }

    @Test("Every route serves HEAD like GET and OPTIONS with Allow, and refuses other methods")
    func methods() async throws {
        let server = try await start()
        for target in Self.routes {
            let get = try await ask("GET", target, port: server.port)
            let head = try await ask("HEAD", target, port: server.port)
            #expect(head.status == get.status && head.body.isEmpty, "\(target)")
            for name in ["content-type", "content-length", "cache-control", "etag", "link", "vary"] {
                #expect(head.headers[name] == get.headers[name], "\(target): \(name)")
            }
            let options = try await ask("OPTIONS", target, port: server.port)
            #expect(options.status == 204 && options.headers["allow"] == "GET, HEAD, OPTIONS", "\(target)")
            for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE"] {
                let refused = try await ask(method, target, port: server.port)
                #expect(refused.status == 405 && refused.problem?.code == .methodNotAllowed, "\(target)")
                #expect(refused.headers["allow"] == "GET, HEAD, OPTIONS", "\(target)")
            }
        }
        try await server.finish()
    }

    @Test("A long response is compressed; the response to HEAD has the coding without a length")
    func gzip() async throws {
        let server = try await start()
        let target = secretTarget + "&limit=100"
        let plain = try await ask("GET", target, port: server.port)
        let coded = try await ask("GET", target, ["Accept-Encoding: gzip"], port: server.port)
        #expect(coded.headers["content-encoding"] == "gzip")
        #expect(coded.body.starts(with: [0x1F, 0x8B]))
        #expect(coded.body.count < plain.body.count / 2)
        let head = try await ask("HEAD", target, ["Accept-Encoding: gzip"], port: server.port)
        #expect(head.headers["content-encoding"] == "gzip")
        #expect(head.headers["content-length"] == nil)
        try await server.finish()
    }

    @Test("A client that has the response gets a 304 for the same form of it")
    func unchanged() async throws {
        let server = try await start()
        for target in [
            secretTarget, "/locations?bbox=-122,37,-121,38", "/locations/1", "/categories", "/problems",
        ] {
            let fresh = try await ask("GET", target, port: server.port)
            let tag = try #require(fresh.headers["etag"], "\(target)")
            let unchanged = try await ask("GET", target, ["If-None-Match: \"x\", \(tag)"], port: server.port)
            #expect(unchanged.status == 304 && unchanged.body.isEmpty, "\(target)")
            for name in ["etag", "cache-control", "vary"] {
                #expect(unchanged.headers[name] == fresh.headers[name], "\(target): \(name)")
            }
            #expect(unchanged.headers["content-length"] == nil)
            #expect(unchanged.headers["content-type"] == nil)
            let geoJSON = ["If-None-Match: \(tag)", "Accept: application/geo+json"]
            if target.hasPrefix("/locations") {
                #expect(try await ask("GET", target, geoJSON, port: server.port).status == 200, "\(target)")
            }
        }
        try await server.finish()
    }

    @Test("The links of the pages lead through all places of a category, as many as it counts")
    func pages() async throws {
        let server = try await start()
        let counts = try JSONDecoder().decode(
            [CategoryCount].self, from: try await ask("GET", "/categories", port: server.port).body)
        let category = try #require(counts.first)
        #expect(category.count > 1)
        var target: String? =
            "/locations?lat=0&long=0&category=\(category.name)&limit=\(min(category.count / 2, 100))"
        var ids: [Int] = []
        while let page = target {
            let response = try await ask("GET", page, port: server.port)
            ids += try #require(response.places).map(\.id)
            target = response.headers["link"].map { "/locations" + $0.dropFirst().prefix { $0 != ">" } }
        }
        #expect(ids.count == category.count)
        #expect(Set(ids).count == ids.count)
        try await server.finish()
    }

    @Test("A client that sends too many requests gets a 429, counted over all loops")
    func rateLimit() async throws {
        let server = try await start(["POI_RATE_LIMIT": "3/h", "POI_LOOPS": "2"])
        var statuses: [Int] = []
        for _ in 0..<8 { statuses.append(try await ask("GET", "/", port: server.port).status) }
        #expect(statuses == [200, 200, 200, 429, 429, 429, 429, 429])
        #expect(try await ask("GET", "/livez", port: server.port).status == 200)
        try await server.finish()
    }

    @Test("The log has no query, and no path that may hold a position")
    func logWithoutPositions() async throws {
        let server = try await start()
        for target in [
            "/locations?lat=12.3456&long=65.4321", "/locations%3Flat=12.3456", "/locations/12.3456",
        ] {
            _ = try await ask("GET", target, port: server.port)
        }
        try await server.logLines(3) { $0.contains(#""event":"request""#) }
        try await server.finish()
        #expect(!server.program.output.text.contains("3456"))
        #expect(!server.program.output.text.contains("4321"))
    }

    @Test(
        "The query of a client that closed its connection is cancelled; one that only stopped sending gets its response"
    )
    func departedClient() async throws {
        let server = try await start([
            "POI_LOOPS": "1", "POI_DB_STATEMENT_TIMEOUT": "60s", "POI_REQUEST_TIMEOUT": "60s",
        ])
        let session = try DatabaseSession(server.databaseURL)
        try await session.lockPlaces()
        let departing = try WireClient(port: server.port)
        departing.sendGet(secretTarget)
        try await session.waitForBlockedQueries()
        departing.close()
        try await session.waitForNoBlockedQuery()
        try await server.logLines(1) { $0.contains(#""route":"/locations""#) && !$0.contains("status") }

        let (interims, sawInterim) = AsyncStream<Int>.makeStream()
        let response = Task { [port = server.port] in
            try await offPool {
                defer { sawInterim.finish() }
                let connection = try WireClient(port: port)
                connection.sendGet(secretTarget)
                connection.finishSending()
                sawInterim.yield(try connection.receiveResponse().status)
                sawInterim.finish()
                return try connection.receiveResponse()
            }
        }
        for await status in interims { #expect(status == 102) }
        try await session.unlockPlaces()
        #expect(try await response.value.places?.isEmpty == false)
        try await server.finish()
    }
}

/// Sends one request on a connection of its own.
private func ask(
    _ method: String, _ target: String, _ fields: [String] = [], port: Int
) async throws -> WireResponse {
    try await offPool {
        let connection = try WireClient(port: port)
        let head = ["\(method) \(target) HTTP/1.1", "Host: localhost"] + fields
        connection.send(head.joined(separator: "\r\n") + "\r\n\r\n")
        return try connection.receiveResponse(isHead: method == "HEAD")
    }
}

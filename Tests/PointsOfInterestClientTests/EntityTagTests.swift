import Foundation
import Testing

@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Revalidates, and keeps what is worth it, as a loader does that has understood it.
struct KeepingTransport: Transport {
    private let base: RevalidatingTransport

    init(_ base: any Transport, _ store: ResponseStore) {
        self.base = RevalidatingTransport(base: base, store: store)
    }

    func send(_ request: URLRequest) async throws(RequestError) -> ServiceResponse {
        let response = try await base.send(request)
        await response.keeping?.keep()
        return response
    }
}

@Suite("Entity tags", .timeLimit(.minutes(1)))
struct EntityTagTests {
    private static let first = ServiceResponse.test(
        200, ["ETag": #"W/"1""#, "Link": "<?b>; rel=next"], "[1]")

    private let store = ResponseStore()

    private func request(
        _ path: String = "a", method: String = "GET", fields: [String: String] = [:]
    ) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "https://h/\(path)")))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    private func conditions(_ stub: StubTransport) -> [String?] {
        stub.requests.map { $0.value(forHTTPHeaderField: "If-None-Match") }
    }

    @Test("A 304 returns the kept response, with the header fields of both")
    func revalidates() async throws {
        let stub = StubTransport([
            .success(Self.first),
            .success(.test(304, ["ETag": #""1""#, "Date": "later", "Content-Length": "0"])),
        ])
        let transport = KeepingTransport(stub, store)
        let responses = [try await transport.send(request()), try await transport.send(request())]
        #expect(responses.map(\.head.status) == [200, 200])
        #expect(responses.map(\.body) == [Data("[1]".utf8), Data("[1]".utf8)])
        #expect(responses[1].head.value(forField: "link") == "<?b>; rel=next")
        #expect(responses[1].head.value(forField: "date") == "later")
        #expect(responses[1].head.value(forField: "content-length") == nil)
        #expect(conditions(stub) == [nil, #"W/"1""#])
    }

    @Test("A kept response is as new as the last 304")
    func renewsAge() async throws {
        func response(_ status: Int, _ seconds: Double) -> ServiceResponse {
            let head = ResponseHead(
                status: status, fields: ["ETag": "\"1\""],
                receivedAt: Date(timeIntervalSince1970: seconds))
            return ServiceResponse(head: head, body: Data("[1]".utf8))
        }
        let stub = StubTransport([.success(response(200, 10)), .success(response(304, 20))])
        let transport = KeepingTransport(stub, store)
        for seconds in [10.0, 20] {
            #expect(try await transport.send(request()).head.receivedAt?.timeIntervalSince1970 == seconds)
        }
        let key = try #require(RevalidatingTransport.key(of: try request()))
        #expect(await store.response(for: key)?.head.receivedAt?.timeIntervalSince1970 == 20)
        #expect(await store.response(for: key)?.body == Data("[1]".utf8))
    }

    @Test("After a 304 with another tag the request is sent again without a condition")
    func asksAgain() async throws {
        let stub = StubTransport([
            .success(Self.first), .success(.test(304, ["ETag": #""2""#])),
            .success(.test(200, ["ETag": #""2""#], "[2]")), .success(.test(304, ["ETag": #""2""#])),
        ])
        let transport = KeepingTransport(stub, store)
        for expected in ["[1]", "[2]", "[2]"] {
            #expect(try await transport.send(request()).body == Data(expected.utf8))
        }
        #expect(conditions(stub) == [nil, #"W/"1""#, nil, #""2""#])
    }

    @Test("A request is sent again only once if the service keeps responding with 304")
    func endsAsking() async throws {
        let stub = StubTransport([
            .success(Self.first), .success(.test(304, ["ETag": #""2""#])), .success(.test(304)),
        ])
        let transport = KeepingTransport(stub, store)
        _ = try await transport.send(request())
        #expect(try await transport.send(request()).head.status == 304)
        #expect(stub.requests.count == 3)
    }

    @Test("After a 304 without a tag, which may be another server's, the request is sent again")
    func asksAgainWithoutTag() async throws {
        let stub = StubTransport([
            .success(Self.first), .success(.test(304)), .success(.test(200, ["ETag": #""2""#], "[2]")),
        ])
        let transport = KeepingTransport(stub, store)
        for expected in ["[1]", "[2]"] {
            #expect(try await transport.send(request()).body == Data(expected.utf8))
        }
        #expect(conditions(stub) == [nil, #"W/"1""#, nil])
    }

    @Test(
        "A response of another media type, or with an invalid tag, isn't kept",
        arguments: [
            ("text/html", #""1""#), ("application/json", "*"), ("application/json", "1"),
            ("application/json", ""), ("application/json", #"W/""#), ("application/json", #""1", "2""#),
            ("application/json", "\"1\"\u{301}\""),
            ("application/json", "\"" + String(repeating: "1", count: 20_000) + "\""),
        ])
    func distrustsOthers(type: String, tag: String) async throws {
        let foreign = ServiceResponse.test(200, ["Content-Type": type, "ETag": tag], "<html>")
        let stub = StubTransport([.success(foreign), .success(Self.first)])
        let transport = KeepingTransport(stub, store)
        let request = try request(fields: ["Accept": "application/geo+json, application/json;q=0.5"])
        for _ in 0..<2 { _ = try await transport.send(request) }
        #expect(conditions(stub) == [nil, nil])
        let key = try #require(RevalidatingTransport.key(of: request))
        #expect(await store.response(for: key)?.body == Self.first.body)
    }

    @Test("A page of another server takes no kept response's place")
    func keepsGoodResponse() async throws {
        let page = ServiceResponse.test(200, ["Content-Type": "text/html", "ETag": #""2""#], "<html>")
        let stub = StubTransport([
            .success(Self.first), .success(page), .success(.test(304, ["ETag": #""1""#])),
        ])
        let transport = KeepingTransport(stub, store)
        let request = try request(fields: ["Accept": "application/json"])
        for expected in ["[1]", "<html>", "[1]"] {
            #expect(try await transport.send(request).body == Data(expected.utf8))
        }
    }

    @Test("A response with no-store isn't kept")
    func honoursNoStore() async throws {
        let fields = ["ETag": #""1""#, "Cache-Control": "private, No-Store"]
        let stub = StubTransport(Array(repeating: .success(.test(200, fields, "[]")), count: 2))
        let transport = KeepingTransport(stub, store)
        for _ in 0..<2 { _ = try await transport.send(request()) }
        #expect(conditions(stub) == [nil, nil])
    }

    @Test("A kept response is used only for the same URL and the same relevant header fields")
    func keys() async throws {
        let stub = StubTransport(Array(repeating: .success(Self.first), count: 10))
        let transport = KeepingTransport(stub, store)
        let requests = [
            try request(), try request("b"), try request(fields: ["Accept": "application/geo+json"]),
            try request(fields: ["Authorization": "Bearer a"]),
            try request(fields: ["Authorization": "Bearer b"]), try request(fields: ["Cookie": "a"]),
            try request(fields: ["Range": "bytes=0-1"]), try request(method: "HEAD"),
            try request(method: "POST"), try request(fields: ["If-None-Match": "*"]),
        ]
        for request in requests { _ = try await transport.send(request) }
        #expect(conditions(stub) == Array(repeating: nil, count: 9) + ["*"])
    }

    @Test("Only a 200 is kept, and a 304 to an unconditional request is returned")
    func keepsOnlyGoodResponses() async throws {
        let stub = StubTransport([
            .success(.test(404, ["ETag": #""1""#])), .success(.test(200, [:], "[]")), .success(.test(304)),
        ])
        let transport = KeepingTransport(stub, store)
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(try await transport.send(request()).head.status) }
        #expect(statuses == [404, 200, 304])
        #expect(conditions(stub) == [nil, nil, nil])
    }
}

import Foundation
import Testing

@testable import PointsOfInterestClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Entity tags", .timeLimit(.minutes(1)))
struct EntityTagTests {
    private static let first = Answer.test(200, ["ETag": #"W/"1""#, "Link": "<?b>; rel=next"], "[1]")

    private let store = MemoryEntityTagStore()

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

    @Test("bring the answer back that hasn't changed, its fields included")
    func revalidates() async throws {
        let stub = StubTransport([
            .success(Self.first),
            .success(.test(304, ["ETag": #""1""#, "Date": "later", "Content-Length": "0"])),
        ])
        let transport = RevalidatingTransport(base: stub, store: store)
        let answers = [try await transport.send(request()), try await transport.send(request())]
        #expect(answers.map(\.head.status) == [200, 200])
        #expect(answers.map(\.body) == [Data("[1]".utf8), Data("[1]".utf8)])
        #expect(answers[1].head.value(forField: "link") == "<?b>; rel=next")
        #expect(answers[1].head.value(forField: "date") == "later")
        #expect(answers[1].head.value(forField: "content-length") == nil)
        #expect(conditions(stub) == [nil, #"W/"1""#])
    }

    @Test("make way for the answer that has changed")
    func replaces() async throws {
        let stub = StubTransport([
            .success(Self.first), .success(.test(200, ["ETag": #""2""#], "[2]")), .success(.test(304)),
        ])
        let transport = RevalidatingTransport(base: stub, store: store)
        for expected in ["[1]", "[2]", "[2]"] {
            #expect(try await transport.send(request()).body == Data(expected.utf8))
        }
        #expect(conditions(stub) == [nil, #"W/"1""#, #""2""#])
    }

    @Test("aren't believed where a 304 is of another tag: the answer is asked for again, whole")
    func asksAgain() async throws {
        let stub = StubTransport([
            .success(Self.first), .success(.test(304, ["ETag": #""2""#])),
            .success(.test(200, ["ETag": #""2""#], "[2]")), .success(.test(304)),
        ])
        let transport = RevalidatingTransport(base: stub, store: store)
        for expected in ["[1]", "[2]", "[2]"] {
            #expect(try await transport.send(request()).body == Data(expected.utf8))
        }
        #expect(conditions(stub) == [nil, #"W/"1""#, nil, #""2""#])
    }

    @Test("aren't asked about twice where the service goes on answering 304")
    func endsAsking() async throws {
        let stub = StubTransport([
            .success(Self.first), .success(.test(304, ["ETag": #""2""#])), .success(.test(304)),
        ])
        let transport = RevalidatingTransport(base: stub, store: store)
        _ = try await transport.send(request())
        #expect(try await transport.send(request()).head.status == 304)
        #expect(stub.requests.count == 3)
    }

    @Test("are not kept where the service forbids to store the answer")
    func honoursNoStore() async throws {
        let fields = ["ETag": #""1""#, "Cache-Control": "private, No-Store"]
        let stub = StubTransport(Array(repeating: .success(.test(200, fields, "[]")), count: 2))
        let transport = RevalidatingTransport(base: stub, store: store)
        for _ in 0..<2 { _ = try await transport.send(request()) }
        #expect(conditions(stub) == [nil, nil])
    }

    @Test("belong to one URL and to the fields by which answers differ")
    func keys() async throws {
        let stub = StubTransport(Array(repeating: .success(Self.first), count: 10))
        let transport = RevalidatingTransport(base: stub, store: store)
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

    @Test("are not kept of answers that aren't whole and good, and a 304 that nobody asked for stays one")
    func keepsOnlyGoodAnswers() async throws {
        let stub = StubTransport([
            .success(.test(404, ["ETag": #""1""#])), .success(.test(200, [:], "[]")), .success(.test(304)),
        ])
        let transport = RevalidatingTransport(base: stub, store: store)
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(try await transport.send(request()).head.status) }
        #expect(statuses == [404, 200, 304])
        #expect(conditions(stub) == [nil, nil, nil])
    }

    @Test("are kept for those that were used last, up to a number and a size")
    func bounds() async throws {
        func key(_ name: String) throws -> EntityTagKey {
            EntityTagKey(url: try #require(URL(string: "https://h/\(name)")))
        }
        func answer(_ count: Int) -> TaggedResponse {
            TaggedResponse(
                entityTag: "t", head: ResponseHead(status: 200), body: Data(repeating: 1, count: count))
        }
        let store = MemoryEntityTagStore(maximumCount: 3, maximumByteCount: 100)
        for name in ["a", "b", "c"] { await store.keep(answer(10), for: try key(name)) }
        _ = await store.answer(for: try key("a"))
        await store.keep(answer(10), for: try key("d"))
        #expect(await store.answer(for: try key("b")) == nil)
        #expect(await store.answer(for: try key("a")) != nil)
        await store.keep(answer(85), for: try key("e"))
        #expect(await store.answer(for: try key("a")) != nil)
        #expect(await store.answer(for: try key("c")) == nil)
        #expect(await store.answer(for: try key("d")) == nil)
        await store.keep(answer(101), for: try key("e"))
        #expect(await store.answer(for: try key("e")) == nil)
    }
}

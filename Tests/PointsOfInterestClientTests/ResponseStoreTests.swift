import Foundation
import Testing

@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

extension ResponseStore {
    /// The newest response to the same request, wherever its centre was.
    func newest(like key: ResponseKey) -> TaggedResponse? { responses(like: key).first }

    /// The responses whose URLs are wanted, the newest first.
    func responses(
        like key: ResponseKey?, where isWanted: @Sendable (URL) -> Bool = { _ in true }
    ) -> [TaggedResponse] {
        places(like: key).compactMap { response(at: $0, where: isWanted) }
    }

    /// Notes that the newest response to a request was used.
    func useNewest(like key: ResponseKey) {
        for place in places(like: key).prefix(1) { use(place) }
    }
}

/// The stores, which must not differ.
enum StoreForm: CaseIterable, Sendable {
    case memory, file

    func store(count: Int, bytes: Int, in folder: StoreFolder) throws -> ResponseStore {
        switch self {
        case .memory: ResponseStore(maximumCount: count, maximumByteCount: bytes)
        case .file:
            try ResponseStore(directory: folder.url, maximumCount: count, maximumByteCount: bytes)
        }
    }
}

/// A folder of a test's own for a store; gone with the test.
final class StoreFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("tags-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The names of all files.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }

    /// The names of the files with responses.
    var responses: [String] { names.filter { $0.hasSuffix(".kept-response") } }

    func store(count: Int = 100, bytes: Int = 1 << 20) throws -> ResponseStore {
        try ResponseStore(directory: url, maximumCount: count, maximumByteCount: bytes)
    }

    func contents(_ name: String) throws -> Data { try Data(contentsOf: url.appendingPathComponent(name)) }

    func write(_ data: Data, _ name: String) throws { try data.write(to: url.appendingPathComponent(name)) }
}

extension ResponseKey {
    /// The key of a path and query.
    static func test(_ path: String, _ fields: [String: String] = [:]) throws -> ResponseKey {
        ResponseKey(url: try #require(URL(string: "https://h/\(path)")), fields: fields)
    }
}

extension TaggedResponse {
    /// A response with a body of so many bytes, that was received at a time.
    static func test(_ count: Int, at seconds: Double = 0) -> TaggedResponse {
        TaggedResponse(
            entityTag: "t",
            head: ResponseHead(status: 200, receivedAt: Date(timeIntervalSince1970: seconds)),
            body: Data(repeating: 1, count: count))
    }
}

@Suite("A store of responses", .timeLimit(.minutes(1)))
struct ResponseStoreTests {
    private let folder = StoreFolder()

    @Test("A store keeps the responses that were used last, up to a number", arguments: StoreForm.allCases)
    func boundsCount(form: StoreForm) async throws {
        let store = try form.store(count: 3, bytes: 1 << 20, in: folder)
        for name in ["a", "b", "c"] { await store.keep(.test(10), for: try .test(name)) }
        await store.useNewest(like: try .test("a"))
        await store.keep(.test(10), for: try .test("d"))
        #expect(await store.response(for: try .test("b")) == nil)
        for name in ["a", "c", "d"] { #expect(await store.response(for: try .test(name)) != nil) }
        // Looking isn't using.
        _ = await store.response(for: try .test("c"))
        _ = await store.newest(like: try .test("c"))
        await store.keep(.test(10), for: try .test("e"))
        #expect(await store.response(for: try .test("c")) == nil)
        #expect(await store.response(for: try .test("a")) != nil)
    }

    @Test(
        "A response that can't be read is dropped, unless another one took its place",
        arguments: StoreForm.allCases)
    func drops(form: StoreForm) async throws {
        let store = try form.store(count: 9, bytes: 1 << 20, in: folder)
        for path in ["a", "l?q=b"] {
            let key = try ResponseKey.test(path)
            await store.keep(.test(2), for: key)
            await store.drop(.test(1), for: key)
            #expect(await store.response(for: key) == .test(2))
            await store.drop(.test(2), for: key)
            #expect(await store.response(for: key) == nil)
            await store.keep(.test(3), for: key)
            for place in await store.places(like: key) { await store.drop(place) }
            #expect(await store.response(for: key) == nil)
        }
    }

    @Test("A store keeps the responses that were used last, up to a size", arguments: StoreForm.allCases)
    func boundsSize(form: StoreForm) async throws {
        // A file has a few hundred bytes more than the body, which is a third larger in it.
        let store = try form.store(count: 100, bytes: 10_000, in: folder)
        for name in ["a", "b", "c"] { await store.keep(.test(2_000), for: try .test(name)) }
        await store.useNewest(like: try .test("a"))
        await store.keep(.test(5_000), for: try .test("d"))
        #expect(await store.response(for: try .test("b")) == nil)
        #expect(await store.response(for: try .test("d")) != nil)
        await store.keep(.test(10_001), for: try .test("d"))
        #expect(await store.response(for: try .test("d")) == nil, "one that is too large replaces nothing")
        #expect(await store.response(for: try .test("a")) != nil)
    }

    @Test(
        "A store finds the response to a request that was kept last, whatever its centre and the device's clock",
        arguments: StoreForm.allCases)
    func findsNewest(form: StoreForm) async throws {
        let store = try form.store(count: 100, bytes: 1 << 20, in: folder)
        let accept = ["Accept": "a", "Authorization": "one"]
        await store.keep(.test(1, at: 10), for: try .test("l?lat=1&long=2&limit=3", accept))
        await store.keep(.test(3, at: 30), for: try .test("l?lat=7&long=8&limit=3", accept))
        await store.keep(.test(2, at: 20), for: try .test("l?lat=5&long=6&limit=3", accept))
        await store.keep(.test(4, at: 40), for: try .test("l?lat=7&long=8&limit=4", accept))
        await store.keep(.test(5, at: 40), for: try .test("l?lat=7&long=8&limit=3", ["Accept": "b"]))
        await store.keep(.test(6, at: 40), for: try .test("m?lat=7&long=8&limit=3", accept))
        await store.keep(.test(7, at: 40), for: try .test("l?lat=7&long=8&limit=3&cursor=c", accept))
        for (path, fields) in [
            ("l?lat=0&long=0&limit=3", accept), ("l?limit=3", accept), ("l?limit=3", ["Accept": "a"]),
        ] {
            let newest = await store.newest(like: try .test(path, fields))
            #expect(newest?.body.count == 2, "\(path)")
        }
        await store.keep(.test(3, at: 5), for: try .test("l?lat=7&long=8&limit=3", accept))
        #expect(await store.newest(like: try .test("l?limit=3", accept))?.body.count == 3)
        #expect(await store.newest(like: try .test("l?limit=5", accept)) == nil)
    }

    @Test(
        "Of the responses to requests for parts of the world, the newest are found whose URLs are wanted",
        arguments: StoreForm.allCases)
    func findsWanted(form: StoreForm) async throws {
        let store = try form.store(count: 100, bytes: 1 << 20, in: folder)
        let kept = [
            "l?bbox=1&limit=3", "l?bbox=2&limit=3", "l?bbox=3&limit=3", "l?bbox=1&zoom=5&limit=3",
            "l?bbox=1&limit=4", "m?bbox=1&limit=3",
        ]
        for (index, path) in kept.enumerated() {
            await store.keep(.test(index, at: Double(index)), for: try .test(path))
        }
        func sizes(like path: String?, where isWanted: @Sendable (URL) -> Bool) async throws -> [Int] {
            await store.responses(like: try path.map { try .test($0) }, where: isWanted).map(\.body.count)
        }
        let isFirstBox: @Sendable (URL) -> Bool = { $0.query?.contains("bbox=1") == true }
        for _ in 0..<2 {
            #expect(try await sizes(like: "l?limit=3&bbox=9") { _ in true } == [3, 2, 1, 0])
            #expect(try await sizes(like: "l?limit=3", where: isFirstBox) == [3, 0])
            #expect(try await sizes(like: nil, where: isFirstBox) == [5, 4, 3, 0])
            #expect(try await sizes(like: nil) { _ in false } == [])
        }
    }

    @Test(
        "Twenty responses to searches are kept in memory, and take no other's place",
        arguments: StoreForm.allCases)
    func keepsSearchesApart(form: StoreForm) async throws {
        let store = try form.store(count: 3, bytes: 1 << 20, in: folder)
        for name in ["a", "b", "c"] { await store.keep(.test(10), for: try .test("\(name)?limit=1")) }
        for number in 0..<25 {
            await store.keep(.test(number, at: Double(number)), for: try .test("l?lat=1&q=\(number)"))
        }
        for name in ["a", "b", "c"] {
            #expect(await store.response(for: try .test("\(name)?limit=1")) != nil)
        }
        var kept: [Int] = []
        for number in 0..<25 {
            if let found = await store.response(for: try .test("l?lat=1&q=\(number)")) {
                kept.append(found.body.count)
            }
        }
        #expect(kept == Array(5..<25))
        #expect(await store.newest(like: try .test("l?lat=7&q=9"))?.body.count == 9)
        #expect(await store.responses(like: nil).count == 3)
        #expect(folder.responses.count == (form == .file ? 3 : 0))
        for name in folder.names {
            #expect(!String(decoding: try folder.contents(name), as: UTF8.self).contains("q="))
        }
    }

    @Test(
        "A store has as many responses as it may, and one may take all of its bytes",
        arguments: StoreForm.allCases)
    func fits(form: StoreForm) async throws {
        let store = try form.store(count: 2, bytes: 1 << 20, in: folder)
        for name in ["a", "b"] { await store.keep(.test(50), for: try .test(name)) }
        for name in ["a", "b"] { #expect(await store.response(for: try .test(name)) != nil) }
        // A file begins with a hash, mostly of 16 digits and never of more.
        let file = try folder.responses.first.map { name in
            let bytes = try folder.contents(name)
            return 16 + bytes[(bytes.firstIndex(of: UInt8(ascii: "\n")) ?? 0)...].count
        }
        await store.removeAll()
        let full = try form.store(count: 2, bytes: file ?? 50, in: folder)
        await full.keep(.test(50), for: try .test("a"))
        #expect(await full.response(for: try .test("a")) != nil)
    }

    @Test("Responses to searches take a mebibyte at most")
    func boundsSearches() async throws {
        let store = ResponseStore()
        for number in 1...3 { await store.keep(.test(1 << 19), for: try .test("l?lat=1&q=\(number)")) }
        #expect(await store.response(for: try .test("l?lat=1&q=1")) == nil)
        for number in 2...3 { #expect(await store.response(for: try .test("l?lat=1&q=\(number)")) != nil) }
    }

    @Test("A store drops everything after removeAll()")
    func removesAll() async throws {
        for store in [ResponseStore(), try folder.store()] {
            for path in ["a", "a?q=b"] { await store.keep(.test(1), for: try .test(path)) }
            await store.removeAll()
            for path in ["a", "a?q=b"] { #expect(await store.response(for: try .test(path)) == nil) }
        }
        #expect(folder.names == [])
    }
}

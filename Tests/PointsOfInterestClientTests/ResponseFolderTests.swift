import Foundation
import Testing

@testable import PointsOfInterestAPI
@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A store of responses on disk", .timeLimit(.minutes(1)))
struct ResponseFolderTests {
    private let folder = StoreFolder()

    @Test("A store has its whole responses after the next start")
    func survives() async throws {
        let head = ResponseHead(
            status: 200, url: URL(string: "https://h/a?b"), fields: ["Link": "<?c>", "Date": "x"],
            receivedAt: Date(timeIntervalSince1970: 1_700_000_000.123))
        let response = TaggedResponse(entityTag: #"W/"1""#, head: head, body: Data([0, 255, 10]))
        let key = try ResponseKey.test("a?lat=1&long=2", ["Authorization": "Bearer a"])
        try await folder.store().keep(response, for: key)
        #expect(try await folder.store().response(for: key) == response)
        #expect(try await folder.store().newest(like: try .test("a")) == response)
        #expect(try await folder.store().response(for: .test("a?lat=1&long=2")) == response, "whoever asks")
        let german = try ResponseKey.test("a?lat=1&long=2", ["Accept-Language": "de"])
        #expect(try await folder.store().response(for: german) == nil)
        #expect(folder.responses.count == 1)
        try await folder.store().keep(.test(3), for: key)
        #expect(folder.responses.count == 1, "the earlier one is removed")
    }

    @Test("A store keeps no secret of a request or response, and names files without it")
    func hidesSecrets() async throws {
        let url = try #require(URL(string: "https://name:s3cret@h/a"))
        let fields = ["Authorization": "Bearer s3cret", "Cookie": "id=s3cret"]
        let head = ResponseHead(
            status: 200, url: url,
            fields: ["Set-Cookie": "s3cret", "Authentication-Info": "s3cret", "A": "b"])
        let response = TaggedResponse(entityTag: "t", head: head, body: Data())
        let store = try folder.store()
        await store.keep(response, for: ResponseKey(url: url, fields: fields))
        let open = ResponseKey(url: try #require(URL(string: "https://h/a")))
        for kept in [await store.response(for: open), await store.newest(like: open)] {
            #expect(kept?.head.value(forField: "A") == "b")
            #expect(kept?.head.url?.absoluteString == "https://h/a")
        }
        for name in folder.names {
            let text = String(decoding: try folder.contents(name), as: UTF8.self)
            #expect(!name.contains("s3cret") && !text.contains("s3cret"))
        }
    }

    @Test("A file that is damaged, or isn't the store's, is ignored and removed", arguments: 0..<8)
    func removesDamaged(fault: Int) async throws {
        try await folder.store().keep(.test(30), for: .test("a"))
        let name = try #require(folder.responses.first)
        var bytes = try folder.contents(name)
        switch fault {
        case 0: bytes = Data()
        case 1: bytes = bytes.prefix(bytes.count - 1)
        case 2: bytes[bytes.count / 2] ^= 1
        case 3: bytes = Data("{}".utf8)
        case 4: bytes = Data((0..<2_000).map { _ in UInt8.random(in: 0...255) })
        case 7:
            // Still JSON that can be read.
            let text = String(decoding: bytes, as: UTF8.self)
            bytes = Data(text.replacing(#""AQEB"#, with: #""AQEC"#).utf8)
            #expect(String(decoding: bytes, as: UTF8.self) != text)
        case 5:
            // Whole, but of a later version.
            let text = String(decoding: bytes, as: UTF8.self).split(separator: "\n")[1]
                .replacing(#""version":2"#, with: #""version":3"#)
            bytes = Data("\(String(StableHash.hash(String(text)), radix: 16))\n\(text)".utf8)
            #expect(text.contains(#""version":3"#))
        default:
            // Whole, but another request's.
            let other = StoreFolder()
            try await other.store().keep(.test(30), for: .test("b"))
            bytes = try other.contents(try #require(other.responses.first))
        }
        try folder.write(bytes, name)
        let store = try folder.store()
        #expect(await store.response(for: try .test("a")) == nil)
        #expect(folder.responses.isEmpty)
        await store.keep(.test(30), for: try .test("a"))
        #expect(await store.response(for: try .test("a")) == .test(30))
    }

    @Test("Files that a killed process left behind are removed, and files of other names are left alone")
    func cleansUp() async throws {
        try await folder.store().keep(.test(1), for: .test("a"))
        let name = try #require(folder.responses.first)
        let foreign = ["notes.txt", ".hidden"]
        for foreign in foreign { try folder.write(Data(), foreign) }
        let huge = String(repeating: "9", count: 30)
        for left in [
            "\(UUID().uuidString).kept-response.new", "a.kept-response", "a-b-1-1-\(huge).kept-response",
            "a-b-+1-1-1.kept-response",
        ] {
            try folder.write(Data([1]), left)
        }
        #expect(try await folder.store().response(for: .test("a")) == .test(1))
        #expect(Set(folder.names).subtracting(folder.responses) == Set(foreign))
        #expect(folder.responses.count == 1)
        try await folder.store().useNewest(like: .test("a"))
        #expect(folder.responses.first != name, "the use is noted in the name")
    }

    @Test("Only the user can read the folder and its files")
    func isPrivate() async throws {
        try await folder.store().keep(.test(1), for: .test("a"))
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(folder.url.path) == 0o700)
        for name in folder.names { #expect(try mode(folder.url.path + "/" + name) == 0o600, "\(name)") }
    }

    @Test("A folder that can't be used is an error")
    func refuses() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try folder.write(Data(), "file")
        #expect(throws: (any Error).self) {
            try ResponseStore(directory: folder.url.appendingPathComponent("file"))
        }
    }

    @Test("Two stores on one folder don't disturb each other: each response is whole and its own")
    func shares() async throws {
        // Nothing is shared but the folder, as between two processes.
        let stores = [try folder.store(count: 12), try folder.store(count: 12)]
        await withThrowingTaskGroup { group in
            for (index, store) in stores.enumerated() {
                group.addTask {
                    for round in 0..<60 {
                        let number = (round * 7 + index) % 20
                        let key = try ResponseKey.test("a?lat=\(number)&long=0")
                        await store.keep(.test(1_000 + number), for: key)
                        for other in [number, (number + 3) % 20] {
                            let response = await store.response(for: try .test("a?lat=\(other)&long=0"))
                            #expect(response.map(\.body.count) ?? 1_000 + other == 1_000 + other)
                        }
                        #expect(await store.newest(like: try .test("a")) != nil)
                    }
                }
            }
        }
        await stores[0].keep(.test(1), for: try .test("b"))
        #expect(await stores[1].response(for: try .test("b")) == .test(1))
        #expect(folder.responses.count <= 12)
        #expect(folder.names.count == folder.responses.count)
    }

    @Test("A service asks with the tag of a response that was kept before its start")
    func revalidates() async throws {
        let stub = StubTransport([
            .success(.test(200, ["ETag": #""1""#], "[1]")), .success(.test(304, ["ETag": #""1""#])),
        ])
        let request = URLRequest(url: try #require(URL(string: "https://h/a")))
        for _ in 0..<2 {
            let transport = KeepingTransport(stub, try folder.store())
            #expect(try await transport.send(request).body == Data("[1]".utf8))
        }
        #expect(stub.requests.map { $0.value(forHTTPHeaderField: "If-None-Match") } == [nil, #""1""#])
    }
}

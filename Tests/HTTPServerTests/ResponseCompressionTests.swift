import Loopback
import Randomness
import Testing

@testable import HTTPServer

@Suite("Compression of responses")
struct ResponseCompressionTests {
    private static let long = Array(String(repeating: "a place like any other, ", count: 100).utf8)
    private static let short = Array("short".utf8)

    private static func compressed(
        _ body: [UInt8], accepting coding: String?, _ method: HTTPMethod = .get, status: HTTPStatus = .ok
    ) throws -> HTTPResponse {
        let headers: HTTPHeaders = coding.map { [.acceptEncoding: $0] } ?? [:]
        var response = HTTPResponse(status, body: body)
        try ResponseCompression().apply(
            to: &response, for: HTTPRequest(method: method, target: "/", headers: headers))
        return response
    }

    @Test(
        "A long body is compressed for clients that accept gzip",
        arguments: [
            "gzip", "x-gzip", "GZIP", "gzip, deflate, br", "deflate, gzip;q=0.001", "*", "br, *;q=0.1",
            "identity;q=0.5, gzip;q=0.5", "identity;q=0, gzip", "*;q=0, gzip", "gzip;q=1.0, identity",
        ])
    func gzipped(coding: String) throws {
        let response = try Self.compressed(Self.long, accepting: coding)
        #expect(response.headers.all(.contentEncoding) == ["gzip"])
        #expect(response.body.count < Self.long.count / 10)
        #expect(gunzip(response.body) == Self.long)
    }

    @Test("A body is compressed as well, whatever was in the memory before")
    func afterOthers() throws {
        for _ in 0..<20 {
            // Memory that has been used, as a loop's encoder may get it.
            let used = stride(from: 40_000, through: 120_000, by: 1_000).map { size in
                let block = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: size / 2)
                block.initialize(repeating: 3)
                return block
            }
            for block in used { block.deallocate() }
            #expect(try Self.compressed(Self.long, accepting: "gzip").body.count < Self.long.count / 10)
        }
    }

    @Test(
        "A body isn't compressed for clients that don't accept gzip or prefer identity",
        arguments: [
            nil, "", "identity", "br", "gzip;q=0", "gzip;q=0, *", "*;q=0, identity", "identity, gzip;q=0.9",
            "gzip;q=x", "gzipped", "deflate",
        ])
    func plain(coding: String?) throws {
        let response = try Self.compressed(Self.long, accepting: coding)
        #expect(response.headers.all(.contentEncoding) == [])
        #expect(response.body == Self.long)
    }

    @Test("A short body isn't compressed, unless the client refuses it as it is")
    func short() throws {
        #expect(try Self.compressed(Self.short, accepting: "gzip").body == Self.short)
        let forced = try Self.compressed(Self.short, accepting: "gzip, identity;q=0")
        #expect(forced.headers.first(.contentEncoding) == "gzip")
        #expect(gunzip(forced.body) == Self.short)
        #expect(try Self.compressed([], accepting: "gzip, identity;q=0").headers.isEmpty)
        #expect(try Self.compressed([], accepting: "*;q=0", status: .notModified).headers.isEmpty)
    }

    @Test(
        "A client that refuses every coding gets a 406, and errors uncompressed",
        arguments: ["*;q=0", "identity;q=0", "br, *;q=0", "gzip;q=0, identity;q=0"])
    func refused(coding: String) throws {
        let error = #expect(throws: HTTPError.self) { try Self.compressed(Self.long, accepting: coding) }
        #expect(error?.status == .notAcceptable)
        #expect(try Self.compressed(Self.long, accepting: coding, status: .notFound).body == Self.long)
    }

    @Test("A response to HEAD has the coding of GET's, and no length")
    func head() throws {
        let response = try Self.compressed(Self.long, accepting: "gzip", .head)
        #expect(response.headers.first(.contentEncoding) == "gzip")
        #expect(!response.tellsLengthToHead)
        #expect(try Self.compressed(Self.short, accepting: "gzip", .head).tellsLengthToHead)
    }

    @Test("A body that has a coding already isn't compressed")
    func coded() throws {
        var response = HTTPResponse(.ok, headers: [.contentEncoding: "br"], body: Self.long)
        try ResponseCompression().apply(
            to: &response, for: HTTPRequest(method: .get, target: "/", headers: [.acceptEncoding: "gzip"]))
        #expect(response.body == Self.long)
        #expect(response.headers.all(.contentEncoding) == ["br"])
    }

    @Test("What the caller keeps is compressed more thoroughly")
    func kept() throws {
        let body = GzipEncoderTests.page(number: 1, in: "a place like any other in San José")
        let sizes = try [false, true].map { keepsBodies in
            var response = HTTPResponse(.ok, body: body)
            try ResponseCompression(keepsBodies: keepsBodies).apply(
                to: &response,
                for: HTTPRequest(method: .get, target: "/", headers: [.acceptEncoding: "gzip"]))
            #expect(gunzip(response.body) == body)
            return response.body.count
        }
        #expect(sizes[1] < sizes[0])
    }
}

@Suite("Encoders of gzip")
struct GzipEncoderTests {
    /// The encoders that this build has, by their names.
    static var encoders: [String: any GzipEncoder] {
        var encoders: [String: (any GzipEncoder)?] = [
            "zlib": ZlibEncoder(.speed), "zlib's smallest": ZlibEncoder(.size),
        ]
        #if canImport(CISAL)
            encoders["ISA-L"] = ISALEncoder()
        #endif
        return encoders.compactMapValues(\.self)
    }

    /// A body like a page of places, with words of a text in another order for each number.
    static func page(number: Int, in text: String) -> [UInt8] {
        var random = SeededGenerator(seed: UInt64(number))
        let words = text.split(separator: " ")
        let places = (0..<20).map { _ in
            let name = (0..<4).map { _ in words.randomElement(using: &random) ?? "" }.joined(separator: " ")
            func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
            return """
                {"id":\(number(below: 300_000)),"name":"\(name)","category":"restaurant",\
                "latitude":37.\(number(below: 1_000_000)),"longitude":-121.\(number(below: 1_000_000)),\
                "featured":false,"distance":\(number(below: 1000)).5,\
                "source":{"dataset":"city","id":"\(number(below: 1_000_000))"}}
                """
        }
        return Array("[\(places.joined(separator: ","))]".utf8)
    }

    @Test("One encoder compresses many bodies, and each decompresses unchanged")
    func anyBodies() throws {
        var random = SeededGenerator()
        for (name, encoder) in Self.encoders {
            for round in 0..<60 {
                let length = Int.random(in: 0...(round % 20 == 0 ? 200_000 : 20_000), using: &random)
                let greatest = UInt8.random(in: 0...255, using: &random)
                let body = (0..<length).map { _ in UInt8.random(in: 0...greatest, using: &random) }
                let encoded = try #require(encoder.encode(body))
                #expect(gunzip(encoded) == body, "\(name), POI_TEST_SEED=\(random.seed)")
            }
        }
    }

    @Test("What was compressed before doesn't show in a body: all histories make the same bytes")
    func forgets() throws {
        let page = Self.page(number: 1, in: "a place like any other in San José")
        for (name, encoder) in Self.encoders {
            let first = try #require(encoder.encode(page))
            for number in 1...40 {
                _ = encoder.encode(Self.page(number: number, in: "東京駅 美術館 公園 喫茶店 кафе площадь \(number)"))
                #expect(encoder.encode(page) == first, "\(name)")
            }
            #expect(try #require(Self.encoders[name]).encode(page) == first, "\(name)")
        }
    }

    #if canImport(CISAL)
        @Test(
            "ISA-L's codes suit places of any language: a page is within a tenth of what zlib makes",
            arguments: [
                "a place like any other in San José", "кафе площадь улица музей вокзал", "東京駅 美術館 公園 喫茶店",
                "মসজিদ নদী বাজার ঢাকা", "ትልቅ ገበያ አዲስ አበባ",
            ])
        func suits(text: String) throws {
            let page = Self.page(number: 9, in: text)
            let encoded = try #require(ISALEncoder()?.encode(page)).count
            let bound = try #require(ZlibEncoder(.speed)?.encode(page)).count * 11 / 10
            #expect(encoded <= bound)
        }

        @Test(
            "ISA-L makes a body that can't be compressed longer by stored blocks and the frame alone"
        )
        func stores() throws {
            var random = SeededGenerator()
            let encoder = try #require(ISALEncoder())
            let body = (0..<100_000).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let encoded = try #require(encoder.encode(body))
            #expect(encoded.count <= body.count + 2 * 5 + 18, "POI_TEST_SEED=\(random.seed)")
            #expect(gunzip(encoded) == body)
        }
    #endif
}

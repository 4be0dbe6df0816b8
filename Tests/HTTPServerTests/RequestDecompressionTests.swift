import CZlib
import HTTPServer
import Randomness
import Testing

@Suite("Decompression of request bodies")
struct RequestDecompressionTests {
    private static let limit = 1 << 20

    private static func body(
        _ bytes: [UInt8], _ codings: [String], limit: Int = limit
    ) throws -> [UInt8] {
        var headers = HTTPHeaders()
        for coding in codings { headers.add(.contentEncoding, coding) }
        let request = try HTTPRequest(method: .post, target: "/", headers: headers, body: bytes)
        return try RequestDecompression(limit: limit).body(of: request)
    }

    @Test(
        "A compressed body of any length is decompressed unchanged",
        arguments: [0, 1, 4095, 4096, 4097, 1 << 20])
    func roundTrip(count: Int) throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("RequestDecompressionTests seed: \(seed)")
        var generator = SeededGenerator(seed: seed)
        let plain = (0..<count).map { _ in UInt8.random(in: 0...7, using: &generator) }
        let coded = try gzip(plain)
        for coding in ["gzip", "GZIP", "x-gzip"] { #expect(try Self.body(coded, [coding]) == plain) }
        #expect(try Self.body(plain, []) == plain)
        #expect(try Self.body(plain, ["identity"]) == plain)
    }

    @Test("Several gzip members are one body (RFC 1952, section 2.2)")
    func members() throws {
        let coded = try gzip(Array("one ".utf8)) + gzip([]) + gzip(Array("two".utf8))
        #expect(try Self.body(coded, ["gzip"]) == Array("one two".utf8))
    }

    /// The detail of the 413 for a body.
    private static func refusal(_ body: [UInt8], limit: Int = limit) -> String? {
        let error = #expect(throws: HTTPError.self) { try Self.body(body, ["gzip"], limit: limit) }
        #expect(error?.status == .contentTooLarge)
        return error?.detail
    }

    private static let tooLarge = "The body is larger than this server takes."

    /// A gzip member whose header has a file's name, so that it is longer (RFC 1952, section 2.3).
    private static func padded(_ plain: [UInt8], count: Int) throws -> [UInt8] {
        var coded = try gzip(plain)
        coded[3] = 0x08
        coded.insert(contentsOf: [UInt8](repeating: 0x61, count: count - coded.count - 1) + [0], at: 10)
        return coded
    }

    @Test("A body that decompresses to more than the limit gets a 413, a zip bomb before it is decompressed")
    func bomb() throws {
        let plain = [UInt8](repeating: 0, count: Self.limit + 1)
        let count = Self.limit / 100 + 1
        #expect(Self.refusal(try Self.padded(plain, count: count)) == Self.tooLarge)
        let longest = try Self.padded(Array(plain.dropFirst()), count: count)
        #expect(try Self.body(longest, ["gzip"]).count == Self.limit)
        // A gigabyte in a megabyte: unpacked it would not fit into the time that a test has.
        let member = try gzip([UInt8](repeating: 0, count: 1 << 26))
        #expect(Self.refusal(Array(repeatElement(member, count: 16).joined())) == Self.tooLarge)
        // The same in members of one byte.
        let small = try gzip([0])
        #expect(Self.refusal(Array(repeatElement(small, count: 101).joined()), limit: 100) == Self.tooLarge)
        #expect(
            try Self.body(Array(repeatElement(small, count: 100).joined()), ["gzip"], limit: 100).count == 100
        )
    }

    @Test("A body that becomes more than a hundred times as long gets a 413 that says so")
    func ratio() throws {
        let plain = [UInt8](repeating: 0, count: 100_000)
        #expect(try Self.body(Self.padded(plain, count: 1000), ["gzip"]) == plain)
        #expect(
            Self.refusal(try Self.padded(plain + [0], count: 1000))
                == "The body becomes more than 100 times as long when it is decompressed.")
    }

    @Test("A body that isn't gzip, or is incomplete, gets a 400")
    func malformed() throws {
        let coded = try gzip(Array("a body like any other".utf8))
        var damaged = coded
        damaged[12] ^= 0x55
        let bodies =
            [[], Array("plain".utf8), damaged, coded + [0], coded + coded.prefix(9)]
            + (1..<coded.count).map { Array(coded.prefix($0)) }
        for body in bodies {
            let error = #expect(throws: HTTPError.self, "\(body.count) bytes") {
                try Self.body(body, ["gzip"])
            }
            #expect(error?.status == .badRequest, "\(body.count) bytes")
        }
    }

    @Test(
        "A body with another coding gets a 415 with Accept-Encoding",
        arguments: [["br"], ["deflate"], ["gzip, gzip"], ["gzip", "gzip"], [""], ["gzip;q=1"]])
    func unsupported(codings: [String]) throws {
        let error = #expect(throws: HTTPError.self) { try Self.body([1], codings) }
        #expect(error?.status == .unsupportedMediaType)
        #expect(error?.code == .unsupportedContentCoding)
        #expect(error?.headers.first(.acceptEncoding) == "gzip, identity")
    }

    @Test("One decoder decompresses many bodies, also after errors")
    func reuse() throws {
        let decompression = RequestDecompression(limit: 100)
        let plain = Array("again and again".utf8)
        let coded = try gzip(plain)
        let bodies = [
            coded, Array(coded.dropLast()), coded, try gzip([UInt8](repeating: 0, count: 1000)), coded,
        ]
        let outcomes = try bodies.map { body in
            let request = try HTTPRequest(
                method: .post, target: "/", headers: [.contentEncoding: "gzip"], body: body)
            return try? decompression.body(of: request)
        }
        #expect(outcomes == [plain, nil, plain, nil, plain])
    }
}

/// A body as one member of gzip (RFC 1952), as a client would code it.
func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer { stream.deallocate() }
    let status = deflateInit2_(
        stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
        Int32(MemoryLayout<z_stream>.size))
    try #require(status == Z_OK)
    defer { deflateEnd(stream) }
    let capacity = Int(deflateBound(stream, UInt(bytes.count)))
    return [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
        bytes.withUnsafeBufferPointer { input in
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = UInt32(input.count)
            stream.pointee.next_out = output.baseAddress
            stream.pointee.avail_out = UInt32(capacity)
            deflate(stream, Z_FINISH)
        }
        count = capacity - Int(stream.pointee.avail_out)
    }
}

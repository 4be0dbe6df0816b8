/// A complete request. Only its framing is decoded.
///
/// The target and the fields lie in one array of bytes; strings are made when they are asked for.
package struct HTTPRequest: Sendable {
    package var method: HTTPMethod
    package var headers: HTTPHeaders
    /// Without its framing.
    package var body: [UInt8]

    @usableFromInline let bytes: [UInt8]
    private let target: RequestTarget

    /// For tests and for handlers that call others. Throws 400 for an invalid target (RFC 9112 section 3.2).
    package init(
        method: HTTPMethod, target: String, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = []
    ) throws(HTTPError) {
        let bytes = Array(target.utf8)
        self.init(
            method: method, bytes: bytes, target: try RequestTarget(bytes, method: method), headers: headers)
        self.body = body
    }

    init(method: HTTPMethod, bytes: [UInt8], target: RequestTarget, headers: HTTPHeaders) {
        self.method = method
        self.bytes = bytes
        self.target = target
        self.headers = headers
        self.body = []
    }

    /// Percent-encoded as it was sent, without the query; `*` for the server as a whole.
    package var path: String { sentPath.text }

    /// What follows the first `?`, percent-encoded as it was sent.
    package var query: String? { target.query.map { String(decoding: bytes[$0], as: UTF8.self) } }

    /// Empty for an absolute target that has only a host.
    package var pathBytes: ArraySlice<UInt8> { bytes[target.path] }

    package var queryBytes: ArraySlice<UInt8> { bytes[queryRange] }

    @usableFromInline var queryRange: Range<Int> { target.query ?? 0..<0 }

    /// Calls a closure with `queryBytes` in place, at less cost.
    @inlinable
    package func withQuery<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result {
        let range = queryRange
        return try bytes.withUnsafeBufferPointer { try body(UnsafeBufferPointer(rebasing: $0[range])) }
    }

    /// Whether this is the path, byte for byte.
    @inline(__always)
    func hasPath(_ path: [UInt8]) -> Bool {
        guard path.count == target.path.count else { return false }
        let (sent, expected) = (bytes.span.extracting(target.path), path.span)
        for index in expected.indices where sent[index] != expected[index] { return false }
        return true
    }

    var sentPath: RequestPath { RequestPath(bytes: bytes, range: target.path) }
}

/// A request's path, of which a string is made only when it is asked for.
struct RequestPath: Sendable {
    let bytes: [UInt8]
    /// Empty for an absolute target that has only a host.
    let range: Range<Int>

    var text: String { range.isEmpty ? "/" : String(decoding: bytes[range], as: UTF8.self) }
}

/// A request method: a case-sensitive token of at most 32 bytes (RFC 9110 section 9.1).
///
/// The token lies in the value itself, so that methods are copied and compared without strings and references.
package struct HTTPMethod: Hashable, Sendable, CustomStringConvertible {
    /// The token's bytes, the first one lowest in the first word, with zeros behind them.
    private let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    /// Longer methods are refused as unknown. The longest method that IANA has registered has 17 bytes.
    static let maximumBytes = 32

    package init?(_ token: String) {
        let bytes = Array(token.utf8)
        guard !bytes.isEmpty, bytes.count <= Self.maximumBytes, bytes.allSatisfy(ASCII.isToken) else {
            return nil
        }
        self.init(tokenBytes: bytes[...])
    }

    /// A method from at most 32 bytes that are known to be a token; what is beyond them is ignored.
    init(tokenBytes: ArraySlice<UInt8>) {
        func word(_ number: Int) -> UInt64 {
            tokenBytes.dropFirst(8 * number).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        (first, second, third, fourth) = (word(0), word(1), word(2), word(3))
    }

    @inline(__always)
    private init(_ token: StaticString) {
        var word: UInt64 = 0
        for index in 0..<token.utf8CodeUnitCount {
            word |= UInt64(token.utf8Start[index]) &<< UInt64(8 * index)
        }
        first = word
        (second, third, fourth) = (0, 0, 0)
    }

    package var rawValue: String {
        let bytes = [first, second, third, fourth].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word &>> UInt64(8 * $0)) }
        }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    package var description: String { rawValue }

    /// Nil for a method that RFC 9110 and RFC 5789 don't define.
    package var knownToken: StaticString? {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .patch: "PATCH"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .connect: "CONNECT"
        case .trace: "TRACE"
        default: nil
        }
    }

    package static var get: HTTPMethod { HTTPMethod("GET" as StaticString) }
    package static var head: HTTPMethod { HTTPMethod("HEAD" as StaticString) }
    package static var post: HTTPMethod { HTTPMethod("POST" as StaticString) }
    package static var put: HTTPMethod { HTTPMethod("PUT" as StaticString) }
    package static var patch: HTTPMethod { HTTPMethod("PATCH" as StaticString) }
    package static var delete: HTTPMethod { HTTPMethod("DELETE" as StaticString) }
    package static var options: HTTPMethod { HTTPMethod("OPTIONS" as StaticString) }
    package static var connect: HTTPMethod { HTTPMethod("CONNECT" as StaticString) }
    package static var trace: HTTPMethod { HTTPMethod("TRACE" as StaticString) }
}

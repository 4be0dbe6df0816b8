/// A complete request. Only its framing is decoded.
///
/// The target and the fields lie in one array of bytes; strings are made when they are asked for.
public struct HTTPRequest: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// The fields, in order.
    public var headers: HTTPHeaders
    /// The body without its framing; empty if there is none.
    public var body: [UInt8]

    @usableFromInline let bytes: [UInt8]
    private let target: RequestTarget
    /// The range of the path in `bytes`, and that of the query, which is empty if there is none.
    @usableFromInline var pathRange: Range<Int> { target.path }
    @usableFromInline var queryRange: Range<Int> { target.query ?? 0..<0 }

    /// Makes a request from its parts, for tests and for handlers that call others.
    ///
    /// - Throws: `HTTPError` 400 for an invalid target (RFC 9112 section 3.2).
    public init(
        method: HTTPMethod, target: String, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = []
    ) throws(HTTPError) {
        let bytes = Array(target.utf8)
        let parsed = bytes.withUnsafeBytes { bytes in
            Result { () throws(HTTPError) in try RequestTarget(bytes, 0..<bytes.count, method: method) }
        }
        self.init(method: method, bytes: bytes, target: try parsed.get(), headers: headers)
        self.body = body
    }

    /// Makes a request whose target was checked already.
    init(method: HTTPMethod, bytes: [UInt8], target: RequestTarget, headers: HTTPHeaders) {
        self.method = method
        self.bytes = bytes
        self.target = target
        self.headers = headers
        self.body = []
    }

    /// The path, percent-encoded as it was sent, without the query; `*` for the server as a whole.
    public var path: String { sentPath.text }

    /// What follows the first `?`, percent-encoded as it was sent; nil if there is no `?`.
    public var query: String? { target.query.map(string) }

    /// The path as it was sent.
    var sentPath: RequestPath { RequestPath(bytes: bytes, range: target.path) }

    /// Calls a closure with the bytes of `path`, without making a string. They are valid during the call only.
    @inlinable
    public func withPath<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let range = pathRange
        return try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Calls a closure with the bytes of `query`, or with none if there is no `?`, without making a string. They are
    /// valid during the call only.
    @inlinable
    public func withQuery<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let range = queryRange
        return try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    private func string(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}

/// A request's path, of which a string is made only when it is asked for.
struct RequestPath: Sendable {
    let bytes: [UInt8]
    /// Empty for an absolute target that has only a host.
    let range: Range<Int>

    var text: String { range.isEmpty ? "/" : String(decoding: bytes[range], as: UTF8.self) }
}

/// The ranges of a request target's parts (RFC 9112 section 3.2).
struct RequestTarget: Equatable, Sendable {
    // Small, since requests are passed on with it.
    private let start: UInt32
    private let pathStart: UInt32
    /// Where the path ends, at the `?` of a query or at the end.
    private let pathEnd: UInt32
    private let end: UInt32

    var whole: Range<Int> { Int(start)..<Int(end) }
    /// Empty for an absolute target that has only a host.
    var path: Range<Int> { Int(pathStart)..<Int(pathEnd) }
    var query: Range<Int>? { pathEnd == end ? nil : Int(pathEnd) + 1..<Int(end) }

    /// Makes a target that is a path, with a query unless it ends with the path.
    init(path: Range<Int>, end: Int) {
        self.init(start: path.lowerBound, path: path, end: end)
    }

    private init(start: Int, path: Range<Int>, end: Int) {
        self.start = UInt32(start)
        pathStart = UInt32(path.lowerBound)
        pathEnd = UInt32(path.upperBound)
        self.end = UInt32(end)
    }

    /// Finds the parts of the target at `whole` in `bytes`.
    ///
    /// - Throws: 400 unless it is a path, an absolute `http` or `https` URI, or `*` with `OPTIONS`.
    init(_ bytes: UnsafeRawBufferPointer, _ whole: Range<Int>, method: HTTPMethod) throws(HTTPError) {
        for index in whole where bytes[index] <= ASCII.space || bytes[index] >= ASCII.delete {
            throw .malformed("A byte in the request target that must be percent-encoded.")
        }
        try self.init(checked: bytes, whole, method: method)
    }

    /// Finds the parts of a target whose bytes a guard has checked.
    ///
    /// - Throws: as the other initialiser.
    init(checked bytes: UnsafeRawBufferPointer, _ whole: Range<Int>, method: HTTPMethod) throws(HTTPError) {
        guard !whole.isEmpty else { throw .malformed("An empty request target.") }
        let first = bytes[whole.lowerBound]
        var start = whole.lowerBound
        if first != ASCII.slash, !(first == ASCII.asterisk && whole.count == 1 && method == .options) {
            start = try Self.authority(of: bytes, whole).upperBound
        }
        var queryMark: Int?
        var index = start
        while index < whole.upperBound {
            if whole.upperBound - index >= 8 {
                let marks = EightBytes(bytes, at: index).marksOfParts
                index &+= marks == 0 ? 8 : EightBytes.countBefore(marks)
                if marks == 0 { continue }
            }
            if bytes[index] == ASCII.questionMark, queryMark == nil { queryMark = index }
            if bytes[index] == ASCII.numberSign { throw .malformed("A fragment in the request target.") }
            index &+= 1
        }
        self.init(
            start: whole.lowerBound, path: start..<(queryMark ?? whole.upperBound), end: whole.upperBound)
    }

    /// Finds and checks the host and port of an absolute target.
    private static func authority(
        of bytes: UnsafeRawBufferPointer, _ whole: Range<Int>
    ) throws(HTTPError) -> Range<Int> {
        for scheme in ["http://", "https://"] {
            let end = whole.lowerBound + scheme.utf8.count
            guard end <= whole.upperBound,
                ASCII.equalIgnoringCase(bytes[whole.lowerBound..<end], scheme.utf8)
            else { continue }
            let authorityEnd = (end..<whole.upperBound).first {
                bytes[$0] == ASCII.slash || bytes[$0] == ASCII.questionMark || bytes[$0] == ASCII.numberSign
            }
            let authority = end..<(authorityEnd ?? whole.upperBound)
            guard HostValidation.isValid(bytes[authority]) else {
                throw .malformed("An invalid host in the request target.")
            }
            return authority
        }
        throw .malformed("A request target that is neither a path nor an http URI.")
    }
}

extension EightBytes {
    /// Marks the characters that a query or a fragment begins with.
    @inline(__always)
    fileprivate var marksOfParts: UInt64 { equal(to: ASCII.questionMark) | equal(to: ASCII.numberSign) }
}

/// A request method: a case-sensitive token of at most 32 bytes (RFC 9110 section 9.1).
///
/// The token lies in the value itself, so that methods are copied and compared without strings and references.
public struct HTTPMethod: Hashable, Sendable, CustomStringConvertible {
    /// The token's bytes, the first one lowest in the first word, with zeros behind them.
    private let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    /// Longer methods are refused as unknown. The longest method that IANA has registered has 17 bytes.
    static let maximumBytes = 32

    /// A method from its token; nil if the text isn't a token, or too long.
    public init?(_ token: String) {
        var token = token
        let method = token.withUTF8 { bytes -> HTTPMethod? in
            guard !bytes.isEmpty, bytes.count <= Self.maximumBytes, bytes.allSatisfy(ASCII.isToken) else {
                return nil
            }
            return HTTPMethod(tokenBytes: UnsafeRawBufferPointer(bytes))
        }
        guard let method else { return nil }
        self = method
    }

    /// A method from at most 32 bytes that are known to be a token; what is beyond them is ignored.
    init(tokenBytes: UnsafeRawBufferPointer) {
        first = Self.word(0, of: tokenBytes)
        guard tokenBytes.count > 8 else {
            (second, third, fourth) = (0, 0, 0)
            return
        }
        second = Self.word(1, of: tokenBytes)
        third = Self.word(2, of: tokenBytes)
        fourth = Self.word(3, of: tokenBytes)
    }

    @inline(__always)
    private static func word(_ number: Int, of bytes: UnsafeRawBufferPointer) -> UInt64 {
        var word: UInt64 = 0
        var index = 8 * number
        var shift: UInt64 = 0
        while index < bytes.count, shift < 64 {
            word |= UInt64(bytes[index]) &<< shift
            index &+= 1
            shift &+= 8
        }
        return word
    }

    /// A method of at most eight letters.
    @inline(__always)
    private init(_ token: StaticString) {
        var word: UInt64 = 0
        for index in 0..<token.utf8CodeUnitCount {
            word |= UInt64(token.utf8Start[index]) &<< UInt64(8 * index)
        }
        first = word
        (second, third, fourth) = (0, 0, 0)
    }

    /// The token, for example `GET`.
    public var rawValue: String {
        let bytes = [first, second, third, fourth].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word &>> UInt64(8 * $0)) }
        }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The token.
    public var description: String { rawValue }

    /// The token, without making a string; nil for a method that RFC 9110 and RFC 5789 don't define.
    public var knownToken: StaticString? {
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

    /// Gets a representation.
    public static var get: HTTPMethod { HTTPMethod("GET" as StaticString) }
    /// Gets the head of the response that `get` would get.
    public static var head: HTTPMethod { HTTPMethod("HEAD" as StaticString) }
    /// Sends the resource something to process.
    public static var post: HTTPMethod { HTTPMethod("POST" as StaticString) }
    /// Replaces the resource.
    public static var put: HTTPMethod { HTTPMethod("PUT" as StaticString) }
    /// Changes part of the resource (RFC 5789).
    public static var patch: HTTPMethod { HTTPMethod("PATCH" as StaticString) }
    /// Removes the resource.
    public static var delete: HTTPMethod { HTTPMethod("DELETE" as StaticString) }
    /// Gets the methods that the resource allows.
    public static var options: HTTPMethod { HTTPMethod("OPTIONS" as StaticString) }
    /// Opens a tunnel; this server never does.
    public static var connect: HTTPMethod { HTTPMethod("CONNECT" as StaticString) }
    /// Gets the request back.
    public static var trace: HTTPMethod { HTTPMethod("TRACE" as StaticString) }
}

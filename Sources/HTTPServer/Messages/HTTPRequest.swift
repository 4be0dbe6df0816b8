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
    let whole: Range<Int>
    /// Empty for an absolute target that has only a host.
    let path: Range<Int>
    let query: Range<Int>?

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
        self.whole = whole
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
        path = start..<(queryMark ?? whole.upperBound)
        query = queryMark.map { $0 + 1..<whole.upperBound }
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

/// A request as it arrived whole: nothing is decoded but the framing.
///
/// Method, target and fields lie in one run of bytes; strings are made when they are asked for.
public struct HTTPRequest: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// The fields, in order.
    public var headers: HTTPHeaders
    /// The body without its framing; empty where there is none.
    public var body: [UInt8]
    /// Host and port that were asked: those of an absolute target, else of the `Host` field
    /// (RFC 9112 section 3.2.2). HTTP/1.0 may leave both out.
    public var authority: String? {
        target.authority.map(string) ?? headers.first(.host)
    }

    private let bytes: [UInt8]
    private let target: RequestTarget

    /// A request from parts, for tests and for handlers that call others.
    ///
    /// - Throws: `HTTPError` where the target isn't one that a server takes (RFC 9112 section 3.2).
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

    /// A request whose target lies in bytes that were checked.
    init(method: HTTPMethod, bytes: [UInt8], target: RequestTarget, headers: HTTPHeaders) {
        self.method = method
        self.bytes = bytes
        self.target = target
        self.headers = headers
        self.body = []
    }

    /// The request target as it was sent.
    public var rawTarget: String { string(target.whole) }

    /// The path, percent-encoded as it was sent, without the query; `*` where a server as a whole is asked.
    public var path: String { target.path.isEmpty ? "/" : string(target.path) }

    /// What follows the first `?`, percent-encoded as it was sent; nil where there is no `?`.
    public var query: String? { target.query.map(string) }

    /// Hands the bytes of the path to a closure, without making a string.
    func withPath<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { bytes in
            try body(UnsafeRawBufferPointer(rebasing: bytes[target.path]))
        }
    }

    private func string(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}

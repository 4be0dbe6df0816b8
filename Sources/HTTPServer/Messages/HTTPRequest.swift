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

/// Where the parts of a request target lie (RFC 9112 section 3.2).
struct RequestTarget: Equatable, Sendable {
    let whole: Range<Int>
    /// Empty for an absolute target that names only a host.
    let path: Range<Int>
    let query: Range<Int>?

    /// Finds the parts of the target that lies at `whole` in `bytes`.
    ///
    /// - Throws: a 400 for what is none of: a path, an absolute `http` or `https` URI, `*` of an `OPTIONS`.
    init(_ bytes: UnsafeRawBufferPointer, _ whole: Range<Int>, method: HTTPMethod) throws(HTTPError) {
        guard let first = whole.first else { throw .malformed("An empty request target.") }
        for index in whole where bytes[index] <= ASCII.space || bytes[index] >= ASCII.delete {
            throw .malformed("A byte in the request target that must be percent-encoded.")
        }
        self.whole = whole
        var rest = whole
        let isPath = bytes[first] == ASCII.slash
        let isServer = bytes[first] == ASCII.asterisk && whole.count == 1 && method == .options
        if !isPath && !isServer {
            rest = try Self.authority(of: bytes, whole).upperBound..<whole.upperBound
        }
        let queryMark = rest.first { bytes[$0] == ASCII.questionMark }
        path = rest.lowerBound..<(queryMark ?? rest.upperBound)
        query = queryMark.map { $0 + 1..<rest.upperBound }
        for index in rest where bytes[index] == ASCII.numberSign {
            throw .malformed("A fragment in the request target.")
        }
    }

    /// Finds and checks host and port of an absolute target.
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

/// A request method: a case-sensitive token (RFC 9110 section 9.1).
public struct HTTPMethod: Hashable, Sendable, CustomStringConvertible {
    /// The token as it stands on the request line, `GET` for instance.
    public let rawValue: String

    /// A method from its token; nil where it isn't one.
    public init?(_ token: String) {
        guard !token.isEmpty, token.utf8.allSatisfy(ASCII.isToken) else { return nil }
        self.rawValue = token
    }

    private init(unchecked token: String) {
        self.rawValue = token
    }

    /// A method from bytes that are known to be a token.
    init(tokenBytes: Slice<UnsafeRawBufferPointer>) {
        self.rawValue = String(decoding: tokenBytes, as: UTF8.self)
    }

    /// The token.
    public var description: String { rawValue }

    /// Asks for a representation.
    public static let get = HTTPMethod(unchecked: "GET")
    /// Asks for what `get` would answer, without the body.
    public static let head = HTTPMethod(unchecked: "HEAD")
    /// Hands the resource something to process.
    public static let post = HTTPMethod(unchecked: "POST")
    /// Replaces the resource.
    public static let put = HTTPMethod(unchecked: "PUT")
    /// Changes part of the resource (RFC 5789).
    public static let patch = HTTPMethod(unchecked: "PATCH")
    /// Removes the resource.
    public static let delete = HTTPMethod(unchecked: "DELETE")
    /// Asks what the resource allows.
    public static let options = HTTPMethod(unchecked: "OPTIONS")
    /// Asks for a tunnel; this server never makes one.
    public static let connect = HTTPMethod(unchecked: "CONNECT")
    /// Asks for the request to be echoed.
    public static let trace = HTTPMethod(unchecked: "TRACE")
}

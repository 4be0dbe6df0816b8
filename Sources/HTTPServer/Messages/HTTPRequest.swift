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

    private let bytes: [UInt8]
    private let target: RequestTarget

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
    public var path: String { target.path.isEmpty ? "/" : string(target.path) }

    /// What follows the first `?`, percent-encoded as it was sent; nil if there is no `?`.
    public var query: String? { target.query.map(string) }

    /// Calls a closure with the bytes of the path, without making a string.
    func withPath<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { bytes in
            try body(UnsafeRawBufferPointer(rebasing: bytes[target.path]))
        }
    }

    private func string(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
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

/// A request method: a case-sensitive token (RFC 9110 section 9.1).
public struct HTTPMethod: Hashable, Sendable, CustomStringConvertible {
    /// The token, for example `GET`.
    public let rawValue: String

    /// A method from its token; nil if the text isn't a token.
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

    /// Gets a representation.
    public static let get = HTTPMethod(unchecked: "GET")
    /// Gets the head of the response that `get` would get.
    public static let head = HTTPMethod(unchecked: "HEAD")
    /// Sends the resource something to process.
    public static let post = HTTPMethod(unchecked: "POST")
    /// Replaces the resource.
    public static let put = HTTPMethod(unchecked: "PUT")
    /// Changes part of the resource (RFC 5789).
    public static let patch = HTTPMethod(unchecked: "PATCH")
    /// Removes the resource.
    public static let delete = HTTPMethod(unchecked: "DELETE")
    /// Gets the methods that the resource allows.
    public static let options = HTTPMethod(unchecked: "OPTIONS")
    /// Opens a tunnel; this server never does.
    public static let connect = HTTPMethod(unchecked: "CONNECT")
    /// Gets the request back.
    public static let trace = HTTPMethod(unchecked: "TRACE")
}

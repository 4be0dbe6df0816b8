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

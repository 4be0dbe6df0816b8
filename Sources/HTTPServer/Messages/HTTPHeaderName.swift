/// The name of a header field: a token that is compared without regard to case (RFC 9110 section 5.1).
public struct HTTPHeaderName: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The name as it is sent.
    public let rawValue: String

    /// Makes a name from a token; nil if the text isn't a token.
    public init?(_ token: String) {
        guard !token.isEmpty, token.utf8.allSatisfy(ASCII.isToken) else { return nil }
        self.rawValue = token
    }

    /// Makes a name from a literal. Traps if it isn't a token.
    public init(stringLiteral token: StaticString) {
        let name = token.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
        precondition(!name.isEmpty && name.utf8.allSatisfy(ASCII.isToken), "a field name is a token")
        self.rawValue = name
    }

    /// The name as it is sent.
    public var description: String { rawValue }

    /// Whether two names are equal apart from case.
    public static func == (left: HTTPHeaderName, right: HTTPHeaderName) -> Bool {
        left.rawValue.utf8.elementsEqual(right.rawValue.utf8) {
            ASCII.lowercased($0) == ASCII.lowercased($1)
        }
    }

    /// Hashes the name without regard to case.
    public func hash(into hasher: inout Hasher) {
        for byte in rawValue.utf8 {
            hasher.combine(ASCII.lowercased(byte))
        }
    }

    /// Media types that the client accepts.
    public static let accept: HTTPHeaderName = "Accept"
    /// Codings of the body that the client accepts.
    public static let acceptEncoding: HTTPHeaderName = "Accept-Encoding"
    /// Methods that a resource has.
    public static let allow: HTTPHeaderName = "Allow"
    /// Credentials.
    public static let authorization: HTTPHeaderName = "Authorization"
    /// How long a response may be cached.
    public static let cacheControl: HTTPHeaderName = "Cache-Control"
    /// Options of this connection. The server writes it itself.
    public static let connection: HTTPHeaderName = "Connection"
    /// Coding of the body.
    public static let contentEncoding: HTTPHeaderName = "Content-Encoding"
    /// Media type of the body.
    public static let contentType: HTTPHeaderName = "Content-Type"
    /// The representation's entity tag.
    public static let eTag: HTTPHeaderName = "ETag"
    /// Entity tags, one of which the resource must have.
    public static let ifMatch: HTTPHeaderName = "If-Match"
    /// Entity tags of the client's copies.
    public static let ifNoneMatch: HTTPHeaderName = "If-None-Match"
    /// Relations to other resources (RFC 8288).
    public static let link: HTTPHeaderName = "Link"
    /// The origin of the web page whose script sends the request (RFC 6454).
    public static let origin: HTTPHeaderName = "Origin"
    /// Seconds to wait before the next request.
    public static let retryAfter: HTTPHeaderName = "Retry-After"
    /// What the server spent its time on (W3C Server Timing).
    public static let serverTiming: HTTPHeaderName = "Server-Timing"
    /// Position in a distributed trace (W3C Trace Context).
    public static let traceParent: HTTPHeaderName = "traceparent"
    /// Fields of the request that the response depends on.
    public static let vary: HTTPHeaderName = "Vary"
    /// How the client can authenticate.
    public static let wwwAuthenticate: HTTPHeaderName = "WWW-Authenticate"
    /// The request's id, the client's or a new one. The server writes it itself.
    public static let requestID: HTTPHeaderName = "X-Request-Id"
}

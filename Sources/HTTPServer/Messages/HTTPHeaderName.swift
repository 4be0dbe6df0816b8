/// The name of a header field: a token, equal to another whatever the case (RFC 9110 section 5.1).
public struct HTTPHeaderName: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The name as it is written on the wire.
    public let rawValue: String

    /// A name from its token; nil where it isn't one.
    public init?(_ token: String) {
        guard !token.isEmpty, token.utf8.allSatisfy(ASCII.isToken) else { return nil }
        self.rawValue = token
    }

    /// A name written in the program; traps where it isn't a token.
    public init(stringLiteral token: StaticString) {
        let name = token.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
        precondition(!name.isEmpty && name.utf8.allSatisfy(ASCII.isToken), "a field name is a token")
        self.rawValue = name
    }

    /// The name as it is written on the wire.
    public var description: String { rawValue }

    /// Whether two names are the same field.
    public static func == (left: HTTPHeaderName, right: HTTPHeaderName) -> Bool {
        left.rawValue.utf8.elementsEqual(right.rawValue.utf8) {
            ASCII.lowercased($0) == ASCII.lowercased($1)
        }
    }

    /// Hashes the name without its case.
    public func hash(into hasher: inout Hasher) {
        for byte in rawValue.utf8 {
            hasher.combine(ASCII.lowercased(byte))
        }
    }

    /// What the client can read.
    public static let accept: HTTPHeaderName = "Accept"
    /// Codings of the body that the client can undo.
    public static let acceptEncoding: HTTPHeaderName = "Accept-Encoding"
    /// Methods that a resource has.
    public static let allow: HTTPHeaderName = "Allow"
    /// Credentials.
    public static let authorization: HTTPHeaderName = "Authorization"
    /// How long an answer may be kept.
    public static let cacheControl: HTTPHeaderName = "Cache-Control"
    /// Options of this connection; the server writes it itself.
    public static let connection: HTTPHeaderName = "Connection"
    /// Coding of the body.
    public static let contentEncoding: HTTPHeaderName = "Content-Encoding"
    /// Length of the body in bytes; the server writes it itself.
    public static let contentLength: HTTPHeaderName = "Content-Length"
    /// Media type of the body.
    public static let contentType: HTTPHeaderName = "Content-Type"
    /// Time of the answer; the server writes it itself.
    public static let date: HTTPHeaderName = "Date"
    /// Validator of a representation.
    public static let eTag: HTTPHeaderName = "ETag"
    /// What the client wants before it sends the body.
    public static let expect: HTTPHeaderName = "Expect"
    /// Host and port that were asked.
    public static let host: HTTPHeaderName = "Host"
    /// Validators, one of which the resource must have.
    public static let ifMatch: HTTPHeaderName = "If-Match"
    /// Validators that the client holds.
    public static let ifNoneMatch: HTTPHeaderName = "If-None-Match"
    /// Relations to other resources (RFC 8288).
    public static let link: HTTPHeaderName = "Link"
    /// Where the page comes from whose script asks (RFC 6454).
    public static let origin: HTTPHeaderName = "Origin"
    /// Seconds to wait before asking again.
    public static let retryAfter: HTTPHeaderName = "Retry-After"
    /// What the answer's time was spent on (W3C Server Timing).
    public static let serverTiming: HTTPHeaderName = "Server-Timing"
    /// Position in a distributed trace (W3C Trace Context).
    public static let traceParent: HTTPHeaderName = "traceparent"
    /// Fields of the request that the answer depends on.
    public static let vary: HTTPHeaderName = "Vary"
    /// How the client may prove who it is.
    public static let wwwAuthenticate: HTTPHeaderName = "WWW-Authenticate"
    /// The request's id, made or accepted, echoed in every answer; the server writes it itself.
    public static let requestID: HTTPHeaderName = "X-Request-Id"
}

/// The name of a header field: a token that is compared without regard to case (RFC 9110 section 5.1).
public struct HTTPHeaderName: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The name as it is sent.
    public let rawValue: String
    /// The field's number, if it is one that the server looks for in requests.
    let known: KnownField?

    /// Makes a name from a token; nil if the text isn't a token.
    public init?(_ token: String) {
        guard !token.isEmpty, token.utf8.allSatisfy(ASCII.isToken) else { return nil }
        self.rawValue = token
        known = KnownField(token)
    }

    /// Makes a name from a literal. Traps if it isn't a token.
    public init(stringLiteral token: StaticString) {
        let name = token.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
        precondition(!name.isEmpty && name.utf8.allSatisfy(ASCII.isToken), "a field name is a token")
        self.rawValue = name
        known = KnownField(name)
    }

    /// The name as it is sent.
    public var description: String { rawValue }

    /// Whether two names are equal apart from case.
    public static func == (left: HTTPHeaderName, right: HTTPHeaderName) -> Bool {
        if let known = left.known { return known == right.known }
        return left.rawValue.utf8.elementsEqual(right.rawValue.utf8) {
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

/// The fields that requests are asked for, or that decide where they end. Recognised once, when the head is parsed.
enum KnownField: UInt8, Sendable {
    case accept, acceptEncoding, authorization, connection, contentEncoding, contentLength, contentType,
        expect, host
    case ifMatch, ifNoneMatch, origin, traceParent, transferEncoding, requestID

    /// Its bit in a set of fields.
    var bit: UInt32 { 1 &<< UInt32(rawValue) }

    /// The field of this name, in any case; nil for any other.
    @inline(__always)
    init?(_ name: UnsafeRawBufferPointer) {
        // At most three names have the same length.
        @inline(__always) func select(_ field: KnownField, _ text: StaticString) -> KnownField? {
            ASCII.isLowercase(text, of: name) ? field : nil
        }
        let field: KnownField?
        switch name.count {
        case 4: field = select(.host, "host")
        case 6: field = select(.accept, "accept") ?? select(.expect, "expect") ?? select(.origin, "origin")
        case 8: field = select(.ifMatch, "if-match")
        case 10: field = select(.connection, "connection")
        case 11: field = select(.traceParent, "traceparent")
        case 12: field = select(.contentType, "content-type") ?? select(.requestID, "x-request-id")
        case 13: field = select(.ifNoneMatch, "if-none-match") ?? select(.authorization, "authorization")
        case 14: field = select(.contentLength, "content-length")
        case 15: field = select(.acceptEncoding, "accept-encoding")
        case 16: field = select(.contentEncoding, "content-encoding")
        case 17: field = select(.transferEncoding, "transfer-encoding")
        default: field = nil
        }
        guard let field else { return nil }
        self = field
    }

    init?(_ name: String) {
        var name = name
        guard let field = name.withUTF8({ KnownField(UnsafeRawBufferPointer($0)) }) else { return nil }
        self = field
    }
}

/// Compresses bodies with gzip for clients that accept it, if they are long enough.
///
/// The response's entity tag has to be weak, since it doesn't change. The caller adds `Vary: Accept-Encoding`, which
/// responses that aren't compressed need too. Confined to one loop.
package final class ResponseCompression {
    private let minimumBytes: Int
    private let keepsBodies: Bool
    private lazy var encoder = makeEncoder()

    /// - Parameters:
    ///   - minimumBytes: for shorter bodies, gzip's frame and the added fields leave little to gain, and a TCP segment is sent
    ///     anyway.
    ///   - keepsBodies: whether the caller sends what is compressed again. It is worth more time then.
    package init(minimumBytes: Int = 1024, keepsBodies: Bool = false) {
        self.minimumBytes = minimumBytes
        self.keepsBodies = keepsBodies
    }

    private func makeEncoder() -> (any GzipEncoder)? {
        if keepsBodies { return ZlibEncoder(.size) }
        #if canImport(CISAL)
            return ISALEncoder()
        #else
            return ZlibEncoder(.speed)
        #endif
    }

    /// One body, compressed on any thread; nil if it can't be. It makes its own memory and codes, which a long body is
    /// worth.
    package static func gzip(_ body: [UInt8]) -> [UInt8]? { ZlibEncoder(.balance)?.encode(body) }

    /// Whether a client prefers a long body compressed: for handlers that keep a compressed body themselves.
    package static func isPreferred(by request: HTTPRequest) -> Bool {
        ContentCoding.choice(for: request.headers, isWorthwhile: true) == .gzip
    }

    /// The response to `HEAD` has the coding but not the length, which only compressing would tell. Throws 406 if the client
    /// accepts neither gzip nor the body as it is. Bodies of errors are sent anyway.
    package func apply(to response: inout HTTPResponse, for request: HTTPRequest) throws(HTTPError) {
        guard !response.status.forbidsBody, response.bodyCount > 0,
            !response.hasField(.contentEncoding)
        else { return }
        let isWorthwhile = response.bodyCount >= minimumBytes
        switch ContentCoding.choice(for: request.headers, isWorthwhile: isWorthwhile) {
        case .identity: return
        case nil:
            if response.status.code >= 400 { return }
            throw .notAcceptable("Bodies are sent as they are, or by gzip.")
        case .gzip:
            if request.method == .head {
                response.tellsLengthToHead = false
            } else {
                guard let encoded = encoder?.encode(response.body) else { return }
                response.body = encoded
            }
            response.add([.contentEncoding: "gzip"])
        }
    }
}

/// Decompresses the bodies of requests (RFC 9110 section 8.4), up to a maximum length.
///
/// A byte may become ``maximumRatio`` bytes, so that what is done with a body costs its sender something. Gzip can make
/// 1,032 of one; events of apps, of which each has an id of its own, are 6 to 30 times as long as their gzip.
///
/// Confined to one loop.
package final class RequestDecompression {
    private let limit: Int
    private lazy var decoder = GzipDecoder()

    package static let maximumRatio = 100

    private static let ratioTooLarge = HTTPError(
        .contentTooLarge, .bodyTooLarge,
        "The body becomes more than \(maximumRatio) times as long when it is decompressed.")
    private static let unsupported = HTTPError(
        .unsupportedMediaType, .unsupportedContentCoding, "Bodies are taken as they are, or by gzip.",
        headers: [.acceptEncoding: "gzip, identity"])

    package init(limit: Int = HTTPLimits().bodyBytes) {
        self.limit = limit
    }

    /// Throws 415 for a coding other than gzip, and for more than one; 400 for a body that isn't gzip; 413 for one that is
    /// too long, or becomes too many times as long.
    package func body(of request: HTTPRequest) throws(HTTPError) -> [UInt8] {
        let headers = request.headers
        guard headers.contains(.contentEncoding) else { return try bounded(request.body) }
        guard headers.count(of: .contentEncoding) == 1 else { throw Self.unsupported }
        let named = headers.firstValue(of: .contentEncoding) ?? []
        if ASCII.equalIgnoringCase(named, "identity".utf8) { return try bounded(request.body) }
        guard ["gzip", "x-gzip"].contains(where: { ASCII.equalIgnoringCase(named, $0.utf8) }) else {
            throw Self.unsupported
        }
        guard let decoder else { throw .internalError }
        let isShort = request.body.count <= limit / Self.maximumRatio
        switch decoder.decode(request.body, limit: isShort ? request.body.count * Self.maximumRatio : limit) {
        case .decoded(let body): return body
        case .malformed: throw .malformed("The body is not gzip, though its Content-Encoding says so.")
        case .tooLarge: throw isShort ? Self.ratioTooLarge : .bodyTooLarge
        }
    }

    private func bounded(_ body: [UInt8]) throws(HTTPError) -> [UInt8] {
        guard body.count <= limit else { throw .bodyTooLarge }
        return body
    }
}

/// The coding of a body (RFC 9110 section 8.4.1).
enum ContentCoding {
    case identity
    case gzip
}

extension ContentCoding {
    /// The coding of a response by `Accept-Encoding` (RFC 9110 section 12.5.3); nil if the client accepts none.
    ///
    /// - Parameter isWorthwhile: whether gzip would make the body smaller. Ignored if the client refuses the body as it is.
    static func choice(for headers: HTTPHeaders, isWorthwhile: Bool) -> ContentCoding? {
        guard headers.has(.acceptEncoding) else { return .identity }
        if headers.withOnlyValue(of: .acceptEncoding, isPlainGzip) == true {
            return isWorthwhile ? .gzip : .identity
        }
        var gzip: Int?
        var identity: Int?
        var anything: Int?
        WeightedList.forEach(of: .acceptEncoding, in: headers) { element in
            if element.isNamed("gzip") || element.isNamed("x-gzip") {
                gzip = max(gzip ?? 0, element.weight)
            } else if element.isNamed("identity") {
                identity = max(identity ?? 0, element.weight)
            } else if element.isNamed("*") {
                anything = max(anything ?? 0, element.weight)
            }
        }
        let gzipWeight = gzip ?? anything ?? 0
        // Acceptable unless it is refused, by its name or by `*`.
        let acceptsIdentity = identity ?? anything ?? 1 > 0
        let prefersGzip = isWorthwhile && gzipWeight >= identity ?? 0
        if gzipWeight > 0, prefersGzip || !acceptsIdentity { return .gzip }
        return acceptsIdentity ? .identity : nil
    }

    /// Whether a list begins with gzip and has no weights, as browsers and URLSession send it.
    private static func isPlainGzip(_ list: Span<UInt8>) -> Bool {
        guard list.count >= 4, ASCII.isLowercase("gzip", of: list.extracting(first: 4)),
            list.count == 4 || list[4] == ASCII.comma
        else { return false }
        for index in list.indices where list[index] == ASCII.semicolon { return false }
        return true
    }
}

extension WeightedList.Element {
    fileprivate func isNamed(_ name: StaticString) -> Bool { ASCII.isLowercase(name, of: value) }
}

/// Undoes the coding of requests' bodies (RFC 9110, section 8.4), up to a bound on what comes out.
///
/// Belongs to one loop.
public final class RequestDecompression {
    private let limit: Int
    private lazy var decoder = GzipDecoder()

    private static let unsupported = HTTPError(
        .unsupportedMediaType, .unsupportedContentCoding, "Bodies are taken as they are, or by gzip.",
        headers: [.acceptEncoding: "gzip, identity"])

    /// - Parameter limit: the most bytes of a body once it is decoded.
    public init(limit: Int = HTTPLimits().bodyBytes) {
        self.limit = limit
    }

    /// The body of a request, decoded.
    ///
    /// - Throws: 415 for a coding other than gzip, and for more than one; 400 for what isn't gzip; 413 beyond the
    ///   limit.
    public func body(of request: HTTPRequest) throws(HTTPError) -> [UInt8] {
        let headers = request.headers
        guard headers.contains(.contentEncoding) else { return try bounded(request.body) }
        guard headers.count(of: .contentEncoding) == 1 else { throw Self.unsupported }
        let coding = headers.withFirstValue(of: .contentEncoding) { coding in
            ["identity", "gzip", "x-gzip"].firstIndex { ASCII.equalIgnoringCase(coding, $0.utf8) }
        }
        guard let coding, let coding else { throw Self.unsupported }
        if coding == 0 { return try bounded(request.body) }
        guard let decoder else { throw .internalError }
        switch decoder.decode(request.body, limit: limit) {
        case .decoded(let body): return body
        case .malformed: throw .malformed("The body is not gzip, though its Content-Encoding says so.")
        case .tooLarge: throw .bodyTooLarge
        }
    }

    private func bounded(_ body: [UInt8]) throws(HTTPError) -> [UInt8] {
        guard body.count <= limit else { throw .bodyTooLarge }
        return body
    }
}

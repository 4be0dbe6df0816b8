/// Sends bodies by gzip to clients that take them so, where they are long enough for that to be worth it.
///
/// An answer's entity tag has to be weak, since it stays the same. `Vary: Accept-Encoding` is for whoever puts
/// the answer's fields together: answers that aren't compressed need it too. Belongs to one loop.
public final class ResponseCompression {
    private let minimumBytes: Int
    private lazy var encoder = GzipEncoder()

    /// - Parameter minimumBytes: shorter bodies are sent as they are: by the frame's 18 bytes and the headers
    ///   that go along little is left to win, and a segment is sent anyway.
    public init(minimumBytes: Int = 1024) {
        self.minimumBytes = minimumBytes
    }

    /// Codes the answer to a request as its `Accept-Encoding` says.
    ///
    /// The answer to `HEAD` tells the coding but not the length, which only compressing would tell.
    /// - Throws: 406 where the client accepts neither gzip nor the body as it is, errors' bodies excepted.
    public func apply(to response: inout HTTPResponse, for request: HTTPRequest) throws(HTTPError) {
        guard !response.status.forbidsBody, !response.body.isEmpty,
            !response.headers.contains(.contentEncoding)
        else { return }
        let isWorthwhile = response.body.count >= minimumBytes
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
            response.headers.add(.contentEncoding, "gzip")
        }
    }
}

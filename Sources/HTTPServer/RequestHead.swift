/// A request without its body, and what its head says of the connection.
struct RequestHead: Sendable {
    /// How the body is delimited (RFC 9112 section 6).
    enum Framing: Equatable, Sendable {
        case none
        case length(Int)
        case chunked
    }

    var request: HTTPRequest
    let version: HTTPVersion
    let framing: Framing
    /// Whether the client would send another request on this connection (RFC 9112 section 9.3).
    let keepsAlive: Bool
    /// Whether the client waits for an interim answer before it sends the body (RFC 9110 section 10.1.1).
    let expectsContinue: Bool
}

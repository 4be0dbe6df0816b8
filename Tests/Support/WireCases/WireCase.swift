/// What a client sends on one connection, and all that it gets: a row of the table in `Table/`.
package struct WireCase: Sendable, CustomStringConvertible {
    /// What the client sends.
    package let request: [UInt8]
    /// All responses that it gets, in their order.
    package let responses: [Response]
    /// What becomes of the connection.
    package let connection: Connection
    /// The section of the RFC, and the row's place: `RFC 9112, 6.2 (rfc9112-06-body.md:12)`.
    package let description: String

    /// A response, apart from what every response has: the date, the request's id, the length of its text.
    package struct Response: Sendable {
        package let status: Int
        /// The lines of the fields that not every response has, without line ends.
        package let fields: [String]
        /// The body's text, without the line feed at its end; nil for a response that can have no body.
        package let text: String?
        /// Whether the body is left out, as in a response to `HEAD`.
        package let isWithoutBody: Bool

        /// A response with status 200.
        package static func ok(_ text: String) -> Response {
            Response(status: 200, fields: [], text: text, isWithoutBody: false)
        }
    }

    package enum Connection: String, Sendable {
        /// It stays open, and the next request may come.
        case open
        /// It stays open, and the server waits for the rest of a request.
        case waits
        /// The server closes it.
        case closed
    }
}

/// A mistake in a file of the table.
package struct WireTableError: Error, CustomStringConvertible {
    package let description: String
}

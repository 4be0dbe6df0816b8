import HTTPServer

/// Lets in who brings one of the service's keys: `Authorization: Bearer …` (RFC 6750, section 2.1).
struct KeyRequirement: HTTPRequestCheck {
    let keys: [AccessKey]

    private static let unauthorized = HTTPError(
        .unauthorized, .unauthorized, "This needs a key, as Authorization: Bearer.",
        headers: [.wwwAuthenticate: "Bearer"])
    /// RFC 6750, section 3.1.
    private static let invalidToken = HTTPError(
        .unauthorized, .unauthorized, "The key is not one of the service's.",
        headers: [.wwwAuthenticate: #"Bearer error="invalid_token""#])

    func check(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) {
        let fields = request.headers.all(.authorization)
        guard fields.count == 1, let token = Self.bearerToken(fields[0]) else { throw Self.unauthorized }
        var isKnown = false
        // All of them, so that the time doesn't tell which one it was.
        for key in keys where key.equals(token) { isKnown = true }
        guard isKnown else { throw Self.invalidToken }
    }

    private static func bearerToken(_ field: String) -> [UInt8]? {
        let parts = field.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        // By bytes: a comparison of strings takes the square of a run of combining marks.
        guard parts.count == 2, parts[0].elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 }) else {
            return nil
        }
        let token = Array(parts[1].drop { $0 == UInt8(ascii: " ") })
        return token.isEmpty ? nil : token
    }
}

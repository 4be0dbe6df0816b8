import HTTPServer

/// A key that lets a client in, compared in a time that doesn't tell how much of a guess is right.
public struct AccessKey: Sendable, CustomStringConvertible {
    private let bytes: [UInt8]

    /// The lengths of a key, in characters.
    static let lengths = 16...256
    /// What a setting of several keys looks like.
    static let settingForm = "keys of 16 to 256 letters, digits and -._~+/, separated by commas"

    /// Makes a key of the characters that a bearer token may have (RFC 6750, section 2.1); nil for all else.
    public init?(settingText text: String) {
        bytes = Array(text.utf8)
        guard Self.lengths.contains(bytes.count), Self.isToken(bytes) else { return nil }
    }

    /// Never the key itself.
    public var description: String { "(redacted)" }

    /// Whether the token is this key. Takes as long for any token of the same length.
    func equals(_ token: [UInt8]) -> Bool {
        var difference = bytes.count ^ token.count
        for index in token.indices.prefix(Self.lengths.upperBound) {
            difference |= Int(token[index] ^ bytes[index % bytes.count])
        }
        return difference == 0
    }

    private static func isToken(_ bytes: [UInt8]) -> Bool {
        let body = bytes.reversed().drop { $0 == UInt8(ascii: "=") }
        return !body.isEmpty
            && body.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-._~+/".utf8.contains(byte)
            }
    }
}

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

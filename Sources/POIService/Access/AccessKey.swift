import Foundation
import HTTPServer
import Hashing
import Program

/// A client's key. Comparing it takes a time that doesn't reveal how much of a guess is right.
package struct AccessKey: Sendable, CustomStringConvertible {
    private let bytes: [UInt8]

    static let lengths = 16...256
    static let settingForm = "keys of 16 to 256 letters, digits and -._~+/, separated by commas"

    /// Makes a key; nil unless it is a valid bearer token (RFC 6750, section 2.1) of a valid length.
    package init?(settingText text: String) {
        bytes = Array(text.utf8)
        guard Self.lengths.contains(bytes.count), Self.isToken(bytes) else { return nil }
    }

    /// A new key of 256 random bits.
    package init() {
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        let text = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        self.bytes = Array(text.utf8.prefix { $0 != UInt8(ascii: "=") })
    }

    package var description: String { "(redacted)" }

    /// The key itself, for whom it was made for.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Its SHA-256. A key has too many values for anybody to find it by that.
    package var digest: [UInt8] { SHA256.digest(of: bytes) }

    /// Whether the token is this key. Takes the same time for all tokens of one length.
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

/// Refuses requests without one of the keys in `Authorization: Bearer …` (RFC 6750, section 2.1).
struct KeyRequirement: HTTPRequestCheck {
    let keys: [AccessKey]
    /// Those whose keys are keys for data, too.
    let editing: EditingAccess?

    static let unauthorized = HTTPError(
        .unauthorized, .unauthorized, "This request needs a key, in Authorization: Bearer.",
        headers: [.wwwAuthenticate: "Bearer"])
    /// RFC 6750, section 3.1.
    static let invalidToken = HTTPError(
        .unauthorized, .unauthorized, "The key is not valid.",
        headers: [.wwwAuthenticate: #"Bearer error="invalid_token""#])

    func check(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) {
        guard !has(request), editing?.editor(of: request, context) == nil else { return }
        throw Self.token(of: request) == nil ? Self.unauthorized : Self.invalidToken
    }

    /// Whether the request has one of the keys. It compares all of them, so that the time doesn't reveal which one matched.
    func has(_ request: HTTPRequest) -> Bool {
        guard let token = Self.token(of: request) else { return false }
        var isKnown = false
        for key in keys where key.equals(token) { isKnown = true }
        return isKnown
    }

    static func token(of request: HTTPRequest) -> [UInt8]? {
        let fields = request.headers.all(.authorization)
        return fields.count == 1 ? bearerToken(fields[0]) : nil
    }

    private static func bearerToken(_ field: String) -> [UInt8]? {
        let parts = field.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        // It compares bytes, since the cost of comparing strings is quadratic in a run of combining marks.
        guard parts.count == 2, parts[0].elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 }) else {
            return nil
        }
        let token = Array(parts[1].drop { $0 == UInt8(ascii: " ") })
        return token.isEmpty ? nil : token
    }
}

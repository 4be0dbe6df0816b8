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

/// An origin whose scripts may read answers, as a browser's `Origin` field spells it (RFC 6454, section 6.2).
public enum AllowedOrigin: Hashable, Sendable {
    /// Every origin.
    case any
    /// `scheme://host[:port]`, in lower case.
    case origin(String)

    /// Reads `*`, or an origin without a path; nil for all else.
    public init?(settingText text: String) {
        if text == "*" {
            self = .any
            return
        }
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].first?.isLetter == true, !parts[1].isEmpty,
            parts[0].utf8.allSatisfy({ Self.isLowerCaseOrDigit($0) || "+-.".utf8.contains($0) }),
            parts[1].utf8.allSatisfy({ Self.isLowerCaseOrDigit($0) || "-._:[]".utf8.contains($0) })
        else { return nil }
        self = .origin(text)
    }

    private static func isLowerCaseOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

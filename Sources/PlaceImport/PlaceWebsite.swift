import Bytes
import Foundation

/// Decides which websites PostgreSQL's check accepts (`locations_website_is_http_url`), and normalises others.
enum PlaceWebsite {
    struct Normalised: Equatable {
        var url: String
        var hadScheme = true
        var isEncoded = false
    }

    private static let maximumLength = 2048

    /// Changes an address of a web page into one that the check accepts; nil if that isn't possible. Without a scheme, only
    /// what may be the name of a host on the Internet begins one: it has a dot, and at its end a domain with letters, of two
    /// characters or more. So neither `N/A` nor `tel:123` nor a price becomes a website.
    static func normalise(_ text: String) -> Normalised? {
        if isAccepted(text.utf8) { return Normalised(url: text) }
        // Punycode and percent-encoding make no text shorter than a quarter of its length.
        guard text.utf8.count <= 4 * maximumLength else { return nil }
        var rest = text.unicodeScalars[...]
        var scheme = "https://"
        let given = ["https://", "http://"].first { String(rest.prefix($0.utf8.count)).asciiLowercased == $0 }
        if let given {
            scheme = given
            rest = rest.dropFirst(given.utf8.count)
        }
        let host = rest.prefix { !"/?#:".unicodeScalars.contains($0) }
        guard let hostASCII = asciiHost(String(host)) else { return nil }
        let domain = hostASCII.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard given != nil || domain.count > 1 && domain.last?.count ?? 0 > 1 && !endsInDigits(domain) else {
            return nil
        }
        var tail = ByteBuffer()
        for byte in String(rest[host.endIndex...]).utf8 {
            if isAllowed(byte) { tail.append(byte) } else { tail.appendPercentEncoded(byte) }
        }
        let url = scheme + hostASCII + tail.text
        guard isAccepted(url.utf8) else { return nil }
        return Normalised(
            url: url, hadScheme: text.utf8.starts(with: scheme.utf8),
            isEncoded: !url.utf8.reversed().starts(with: String(rest).utf8.reversed()))
    }

    /// Exactly the check's rule: `http://` or `https://`, a host, perhaps a port of at most 65535, and a tail
    /// `([/?#][]!#-;=?-Z_a-z~[]*)?`; with at most 2048 characters.
    static func isAccepted(_ text: String.UTF8View) -> Bool {
        let bytes = Array(text)[...]
        guard bytes.count <= maximumLength, bytes.starts(with: "http".utf8) else { return false }
        var rest = bytes.dropFirst(bytes.count > 4 && bytes[4] == UInt8(ascii: "s") ? 5 : 4)
        guard rest.starts(with: "://".utf8) else { return false }
        rest = rest.dropFirst(3)
        let host = rest.prefix { !isHostEnd($0) && $0 != UInt8(ascii: ":") }
        return isHost(host) && isAcceptedTail(rest[host.endIndex...])
    }

    /// Whether it is a host's name (RFC 1123, section 2.1: at most 253 characters, labels of 63), or an address of IPv4, which
    /// is what parsers of URLs take for one whenever its last label is a number.
    private static func isHost(_ host: ArraySlice<UInt8>) -> Bool {
        guard host.count <= 253 else { return false }
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let areLabels = labels.allSatisfy { label in
            guard let first = label.first, let last = label.last, label.count <= 63 else { return false }
            return isLetterOrDigit(first) && isLetterOrDigit(last)
                && label.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
        }
        guard areLabels else { return false }
        return !endsInDigits(labels)
            || labels.count == 4
                && labels.allSatisfy { label in
                    let number = number(label)
                    return number <= 255 && (label.count == 1 || label.first != UInt8(ascii: "0"))
                }
    }

    private static func endsInDigits(_ labels: [some Collection<UInt8>]) -> Bool {
        labels.last?.allSatisfy { $0 &- UInt8(ascii: "0") < 10 } == true
    }

    /// The number that digits are, at most 100,000; as much for what isn't digits.
    private static func number(_ digits: some Collection<UInt8>) -> Int {
        digits.reduce(0) {
            $1 &- UInt8(ascii: "0") < 10 ? min($0 * 10 + Int($1 - UInt8(ascii: "0")), 100_000) : 100_000
        }
    }

    private static func isAcceptedTail(_ tail: ArraySlice<UInt8>) -> Bool {
        var rest = tail
        if rest.first == UInt8(ascii: ":") {
            let port = rest.dropFirst().prefix { $0 &- UInt8(ascii: "0") < 10 }
            guard (1...5).contains(port.count), number(port) <= 65_535 else { return false }
            rest = rest[port.endIndex...]
        }
        guard let first = rest.first else { return true }
        return isHostEnd(first) && rest.dropFirst().allSatisfy(isAllowed)
    }

    /// An international name in ASCII, as Foundation makes it (UTS #46); nil where it can't be.
    private static func asciiHost(_ host: String) -> String? {
        if host.utf8.allSatisfy({ $0 < 0x80 }) { return host }
        return URL(string: "https://" + host).map { String($0.absoluteString.dropFirst("https://".count)) }
    }

    private static func isHostEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "]"), UInt8(ascii: "["), UInt8(ascii: "!"), UInt8(ascii: "="), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "#")...UInt8(ascii: ";"), UInt8(ascii: "?")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}

import Bytes
import Foundation
import PointsOfInterestServerAPI

/// Normalises websites into those that PostgreSQL's check accepts (`locations_website_is_http_url`).
enum PlaceWebsite {
    struct Normalised: Equatable {
        var url: String
        var hadScheme = true
        var isEncoded = false
    }

    /// Changes an address of a web page into one that the check accepts; nil if that isn't possible. Its host has a dot.
    /// Without a scheme, only what may be the name of a host on the Internet begins one: it has at its end a domain with
    /// letters, of two characters or more. So neither `N/A` nor `tel:123` nor a price becomes a website.
    static func normalise(_ text: String) -> Normalised? {
        if TableCheck.isWebsite(text) { return hasDottedHost(text) ? Normalised(url: text) : nil }
        // Punycode and percent-encoding make no text shorter than a quarter of its length.
        guard text.utf8.count <= 4 * TableCheck.maximumWebsiteLength else { return nil }
        var rest = text.unicodeScalars[...]
        var scheme = "https://"
        let given = ["https://", "http://"].first { String(rest.prefix($0.utf8.count)).asciiLowercased == $0 }
        if let given {
            scheme = given
            rest = rest.dropFirst(given.utf8.count)
        } else if rest.starts(with: "//".unicodeScalars) {
            rest = rest.dropFirst(2)
        }
        let host = rest.prefix { !"/?#:".unicodeScalars.contains($0) }
        guard let hostASCII = asciiHost(String(host)) else { return nil }
        let domain = hostASCII.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard
            domain.count > 1,
            given != nil || domain.last?.count ?? 0 > 1 && !TableCheck.endsInDigits(domain)
        else {
            return nil
        }
        var tail = ByteBuffer()
        for byte in String(rest[host.endIndex...]).utf8 {
            if TableCheck.isAllowedInWebsite(byte) {
                tail.append(byte)
            } else {
                tail.appendPercentEncoded(byte)
            }
        }
        let url = scheme + hostASCII + tail.text
        guard TableCheck.isWebsite(url) else { return nil }
        return Normalised(
            url: url, hadScheme: text.utf8.starts(with: scheme.utf8),
            isEncoded: !url.utf8.reversed().starts(with: String(rest).utf8.reversed()))
    }

    /// Whether the host of a URL of http or https has a dot.
    private static func hasDottedHost(_ url: String) -> Bool {
        // No host begins with one.
        for byte in url.utf8.dropFirst("https://".utf8.count) {
            if byte == UInt8(ascii: ".") { return true }
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
        }
        return false
    }

    /// An international name in ASCII, as Foundation makes it (UTS #46); nil where it can't be.
    private static func asciiHost(_ host: String) -> String? {
        if host.utf8.allSatisfy({ $0 < 0x80 }) { return host }
        return URL(string: "https://" + host).map { String($0.absoluteString.dropFirst("https://".count)) }
    }
}

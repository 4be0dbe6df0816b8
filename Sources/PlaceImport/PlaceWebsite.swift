import Foundation

/// Decides which websites PostgreSQL's check accepts (`locations_website_is_http_url`), and normalises others.
enum PlaceWebsite {
    struct Normalised: Equatable {
        var url: String
        var hadScheme = true
        var isEncoded = false
    }

    private static let maximumLength = 2048

    /// Changes an address of a web page into one that the check accepts; nil if that isn't possible.
    static func normalise(_ text: String) -> Normalised? {
        if isAccepted(text.utf8) { return Normalised(url: text) }
        // Punycode and percent-encoding make no text shorter than a quarter of its length.
        guard text.utf8.count <= 4 * maximumLength else { return nil }
        var rest = text.unicodeScalars[...]
        var scheme = "https://"
        for prefix in ["https://", "http://"]
        where String(rest.prefix(prefix.utf8.count)).asciiLowercased == prefix {
            scheme = prefix
            rest = rest.dropFirst(prefix.utf8.count)
            break
        }
        let host = rest.prefix { !"/?#:".unicodeScalars.contains($0) }
        guard let hostASCII = Punycode.host(String(host)) else { return nil }
        let tail = String(rest[host.endIndex...]).utf8.flatMap { isAllowed($0) ? [$0] : percentEncoded($0) }
        let url = scheme + hostASCII + String(decoding: tail, as: UTF8.self)
        guard isAccepted(url.utf8) else { return nil }
        return Normalised(
            url: url, hadScheme: text.utf8.starts(with: scheme.utf8),
            isEncoded: !url.utf8.reversed().starts(with: String(rest).utf8.reversed()))
    }

    /// Exactly the check's rule:
    /// `^https?://(LABEL\.)*LABEL(:[0-9]{1,5})?([/?#][]!#-;=?-Z_a-z~[]*)?$`, where LABEL is
    /// `[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?`, with at most 2048 characters.
    static func isAccepted(_ text: String.UTF8View) -> Bool {
        text.withContiguousStorageIfAvailable(isAccepted) ?? Array(text).withUnsafeBufferPointer(isAccepted)
    }

    private static func isAccepted(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count <= maximumLength, bytes.starts(with: "http".utf8) else { return false }
        var index = bytes.count > 4 && bytes[4] == UInt8(ascii: "s") ? 5 : 4
        guard bytes.count > index + 3, bytes[index..<index + 3].elementsEqual("://".utf8) else {
            return false
        }
        index += 3
        // The host: letters and digits, and between these hyphens and single dots.
        var last = UInt8(ascii: ".")
        while index < bytes.count {
            let byte = bytes[index]
            let isLast = last == UInt8(ascii: ".") || last == UInt8(ascii: "-")
            switch byte {
            case _ where isLetterOrDigit(byte): break
            case UInt8(ascii: "-") where last != UInt8(ascii: "."): break
            case UInt8(ascii: ".") where !isLast: break
            case _ where ":/?#".utf8.contains(byte) && !isLast:
                return isAcceptedTail(UnsafeBufferPointer(rebasing: bytes[index...]))
            default: return false
            }
            last = byte
            index += 1
        }
        return isLetterOrDigit(last)
    }

    private static func isAcceptedTail(_ tail: UnsafeBufferPointer<UInt8>) -> Bool {
        var rest = tail[...]
        if rest.first == UInt8(ascii: ":") {
            let port = rest.dropFirst().prefix { $0 &- UInt8(ascii: "0") < 10 }
            guard (1...5).contains(port.count) else { return false }
            rest = rest[port.endIndex...]
        }
        guard let first = rest.first else { return true }
        return "/?#".utf8.contains(first) && rest.dropFirst().allSatisfy(isAllowed)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26
    }

    /// `[]!#-;=?-Z_a-z~[]`
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "]"), UInt8(ascii: "["), UInt8(ascii: "!"), UInt8(ascii: "="), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "#")...UInt8(ascii: ";"), UInt8(ascii: "?")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    private static func percentEncoded(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
}

/// International names of hosts in ASCII (RFC 3492, with the parameters of RFC 5891).
enum Punycode {
    /// The host with each label in ASCII; nil where a label can't be.
    ///
    /// Letters become lower case, and characters are replaced by those that they are compatible with (NFKC). This isn't all
    /// of UTS #46.
    static func host(_ host: String) -> String? {
        if host.utf8.allSatisfy({ $0 < 0x80 }) { return host }
        let mapped = host.lowercased().precomposedStringWithCompatibilityMapping.unicodeScalars
        // Splits scalars: a dot with a combining mark after it is another Character, but ends its label all the same.
        let parts = mapped.split(omittingEmptySubsequences: false) { $0 == "." || $0 == "\u{3002}" }
        let labels = parts.map { label in
            label.allSatisfy(\.isASCII) ? String(label) : encode(label.map(\.value)).map { "xn--" + $0 }
        }
        return labels.contains(nil) ? nil : labels.compactMap(\.self).joined(separator: ".")
    }

    /// Encodes a label of at most 63 code points (RFC 3492, section 6.3); nil for a longer one.
    static func encode(_ label: [UInt32]) -> String? {
        guard label.count <= 63 else { return nil }
        var output = label.filter { $0 < 0x80 }.map { UInt8($0) }
        let basicCount = output.count
        var handled = basicCount
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var (codePoint, delta, bias) = (UInt32(128), 0, 72)
        while handled < label.count {
            guard let next = label.lazy.filter({ $0 >= codePoint }).min() else { return nil }
            delta += Int(next - codePoint) * (handled + 1)
            codePoint = next
            for character in label {
                if character < codePoint { delta += 1 }
                guard character == codePoint else { continue }
                var rest = delta
                var position = 36
                while true {
                    let threshold = min(max(position - bias, 1), 26)
                    if rest < threshold { break }
                    output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
                    rest = (rest - threshold) / (36 - threshold)
                    position += 36
                }
                output.append(digit(rest))
                bias = adapted(delta, count: handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            codePoint += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func digit(_ value: Int) -> UInt8 {
        UInt8(value < 26 ? 97 + value : 22 + value)
    }

    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var bias = 0
        while delta > 455 {
            delta /= 35
            bias += 36
        }
        return bias + 36 * delta / (delta + 38)
    }
}

extension TableCheck {
    package static let maximumWebsiteLength = 2048

    /// Exactly the check's rule: `http://` or `https://`, a host, perhaps a port of at most 65535, and a tail
    /// `([/?#][]!#-;=?-Z_a-z~[]*)?`; with at most 2048 characters.
    package static func isWebsite(_ text: String) -> Bool {
        let bytes = Array(text.utf8)[...]
        guard bytes.count <= maximumWebsiteLength, bytes.starts(with: "http".utf8) else { return false }
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

    package static func endsInDigits(_ labels: [some Collection<UInt8>]) -> Bool {
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
        return isHostEnd(first) && rest.dropFirst().allSatisfy(isAllowedInWebsite)
    }

    private static func isHostEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26
    }

    package static func isAllowedInWebsite(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "]"), UInt8(ascii: "["), UInt8(ascii: "!"), UInt8(ascii: "="), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "#")...UInt8(ascii: ";"), UInt8(ascii: "?")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}

/// Whether bytes are a host with an optional port, as `Host` and an absolute target name them
/// (RFC 9110 section 7.2, RFC 3986 section 3.2).
enum HostValidation {
    static func isValid(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard let first = bytes.first else { return false }
        if first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
            return isIPLiteral(bytes[(bytes.startIndex + 1)..<end]) && isPort(bytes[(end + 1)...])
        }
        let end = bytes.firstIndex(of: ASCII.colon) ?? bytes.endIndex
        return isName(bytes[..<end]) && isPort(bytes[end...])
    }

    /// An IPv6 address, loosely: nobody resolves it here, it only must not break out of its brackets.
    private static func isIPLiteral(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        !bytes.isEmpty
            && bytes.allSatisfy { ASCII.isLetterOrDigit($0) || $0 == ASCII.colon || $0 == ASCII.dot }
    }

    private static func isName(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard !bytes.isEmpty else { return false }
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if bytes[index] == ASCII.percent {
                guard bytes.endIndex - index > 2, ASCII.hexValue(bytes[index + 1]) != nil,
                    ASCII.hexValue(bytes[index + 2]) != nil
                else { return false }
                index += 3
            } else {
                guard isNameByte(bytes[index]) else { return false }
                index += 1
            }
        }
        return true
    }

    /// Unreserved characters and sub-delimiters.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"),
            UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="):
            true
        default:
            ASCII.isLetterOrDigit(byte)
        }
    }

    /// Nothing, or a colon and a number up to 65535; the number may be absent.
    private static func isPort(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard let first = bytes.first else { return true }
        guard first == ASCII.colon, bytes.count <= 6 else { return false }
        var port = 0
        for byte in bytes.dropFirst() {
            guard ASCII.isDigit(byte) else { return false }
            port = port * 10 + Int(byte - ASCII.zero)
        }
        return port <= 65535
    }
}

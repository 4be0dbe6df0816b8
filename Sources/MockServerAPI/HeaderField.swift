/// What a header field may be (RFC 9110, section 5).
enum HeaderField {
    /// The fields that the server writes by itself, and those that are about one connection (RFC 9110, section 7.6.1). A
    /// rule's field of such a name would be left out, or would break the framing.
    private static let serversNames: Set<String> = [
        "connection", "content-length", "date", "keep-alive", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade", "x-request-id",
    ]

    /// Whether the text is a field's name: a token of at most 100 bytes.
    static func isName(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count) && text.utf8.allSatisfy(isTokenByte)
    }

    /// What is wrong with a field of a response, as the rest of a sentence that begins with its name; nil if nothing.
    static func fault(name: String, value: String) -> String? {
        guard isName(name) else { return "is no header field's name" }
        if serversNames.contains(name.lowercased()) { return "is the server's own to write" }
        guard value.utf8.count <= 8192 else { return "has more than 8192 bytes" }
        // A line feed in it would begin a field of its own.
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }) else {
            return "has a control character"
        }
        return nil
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

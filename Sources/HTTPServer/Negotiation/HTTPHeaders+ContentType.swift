extension HTTPHeaders {
    /// Whether the message's body is of a media type: `Content-Type` names it, whatever its case and its
    /// parameters (RFC 9110, section 8.3).
    public func hasContent(of mediaType: String) -> Bool {
        let fields = all(.contentType)
        guard fields.count == 1, let field = fields.first else { return false }
        let name = field.utf8.prefix { $0 != UInt8(ascii: ";") }
            .reversed().drop { $0 == ASCII.space || $0 == ASCII.tab }.reversed()
        return String(decoding: Array(name), as: UTF8.self).lowercased() == mediaType
    }
}

extension HTTPHeaders {
    /// Whether the message's body is of a media type: `Content-Type` names it, whatever its case and its
    /// parameters (RFC 9110, section 8.3).
    public func hasContent(of mediaType: String) -> Bool {
        guard count(of: .contentType) == 1 else { return false }
        return withFirstValue(of: .contentType) { field in
            ASCII.equalIgnoringCase(ASCII.trimmed(field.prefix { $0 != ASCII.semicolon }), mediaType.utf8)
        } ?? false
    }
}

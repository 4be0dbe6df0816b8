/// How a body is coded on its way (RFC 9110 section 8.4.1).
public enum ContentCoding: Sendable {
    /// As it is.
    case identity
    /// By gzip (RFC 1952).
    case gzip
}

extension ContentCoding {
    /// The coding for an answer by what a request accepts (RFC 9110 section 12.5.3); nil where neither is
    /// acceptable.
    ///
    /// - Parameter isWorthwhile: whether gzip would make the body smaller. Where the client refuses the body
    ///   as it is, that doesn't count.
    static func choice(for headers: HTTPHeaders, isWorthwhile: Bool) -> ContentCoding? {
        guard headers.contains(.acceptEncoding) else { return .identity }
        var gzip: Int?
        var identity: Int?
        var anything: Int?
        WeightedList.forEach(of: .acceptEncoding, in: headers) { element in
            if element.isNamed("gzip") || element.isNamed("x-gzip") {
                gzip = max(gzip ?? 0, element.weight)
            } else if element.isNamed("identity") {
                identity = max(identity ?? 0, element.weight)
            } else if element.isNamed("*") {
                anything = max(anything ?? 0, element.weight)
            }
        }
        let gzipWeight = gzip ?? anything ?? 0
        // Acceptable unless it is refused, by its name or along with everything that isn't named.
        let acceptsIdentity = identity ?? anything ?? 1 > 0
        let prefersGzip = isWorthwhile && gzipWeight >= identity ?? 0
        if gzipWeight > 0, prefersGzip || !acceptsIdentity { return .gzip }
        return acceptsIdentity ? .identity : nil
    }
}

extension WeightedList.Element {
    fileprivate func isNamed(_ name: String) -> Bool { ASCII.equalIgnoringCase(value, name.utf8) }
}

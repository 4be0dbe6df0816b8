/// The header fields of a message, in their order. Names match in any case.
///
/// All names and values lie in one array of bytes, so that a request's fields need no strings until one is asked for.
/// No value has a CR, LF or NUL: a request with one is refused, and in a response each is replaced by a space (RFC 9110
/// section 5.5).
package struct HTTPHeaders: Sendable {
    /// The ranges of a field's name and value in `storage`.
    struct Field: Sendable {
        var nameStart: Int
        var nameEnd: Int
        var valueStart: Int
        var valueEnd: Int
        /// Which known field it is; nil for a field that the server doesn't look for.
        var known: KnownField?

        var name: Range<Int> { nameStart..<nameEnd }
        var value: Range<Int> { valueStart..<valueEnd }
    }

    private(set) var storage: [UInt8]
    private(set) var fields: [Field]
    /// The known fields that are there, so that most questions are answered without a search.
    private(set) var knownFields: UInt32

    package init() {
        self.storage = []
        self.fields = []
        knownFields = 0
    }

    /// Values must have no CR, LF or NUL.
    init(storage: [UInt8], fields: [Field], knownFields: UInt32) {
        self.storage = storage
        self.fields = fields
        self.knownFields = knownFields
    }

    package var count: Int { fields.count }

    package var isEmpty: Bool { fields.isEmpty }

    /// CR, LF and NUL in the value become spaces.
    package mutating func add(_ name: HTTPHeaderName, _ value: String) { add(name, value.utf8) }

    mutating func add(_ name: HTTPHeaderName, _ value: some Collection<UInt8>) {
        let nameStart = storage.count
        storage.append(contentsOf: name.rawValue.utf8)
        let nameEnd = storage.count
        storage.append(contentsOf: value)
        let valueEnd = storage.count
        for index in nameEnd..<valueEnd where ASCII.isForbidden(storage[index]) {
            storage[index] = ASCII.space
        }
        fields.append(
            Field(
                nameStart: nameStart, nameEnd: nameEnd, valueStart: nameEnd, valueEnd: valueEnd,
                known: name.known))
        knownFields |= name.known?.bit ?? 0
    }

    package mutating func add(contentsOf other: HTTPHeaders) {
        let offset = storage.count
        storage.append(contentsOf: other.storage)
        fields.reserveCapacity(fields.count + other.fields.count)
        for field in other.fields {
            fields.append(
                Field(
                    nameStart: field.nameStart + offset, nameEnd: field.nameEnd + offset,
                    valueStart: field.valueStart + offset, valueEnd: field.valueEnd + offset,
                    known: field.known))
        }
        knownFields |= other.knownFields
    }

    package mutating func remove(_ name: HTTPHeaderName) {
        fields = fields.filter { !matches($0, name) }
        if let known = name.known { knownFields &= ~known.bit }
    }

    package func contains(_ name: HTTPHeaderName) -> Bool {
        name.known.map(has) ?? fields.contains { matches($0, name) }
    }

    func has(_ field: KnownField) -> Bool { knownFields & field.bit != 0 }

    package var hasAcceptEncodingOrIfMatch: Bool { has(.acceptEncoding) || has(.ifMatch) }

    /// Bytes that aren't UTF-8 are replaced.
    package func first(_ name: HTTPHeaderName) -> String? { firstValue(of: name).map(Self.text) }

    func firstValue(of name: HTTPHeaderName) -> ArraySlice<UInt8>? {
        if let known = name.known, !has(known) { return nil }
        return fields.first { matches($0, name) }.map { storage[$0.value] }
    }

    package func all(_ name: HTTPHeaderName) -> [String] {
        fields.filter { matches($0, name) }.map { Self.text(storage[$0.value]) }
    }

    func count(of name: HTTPHeaderName) -> Int { fields.count { matches($0, name) } }

    func values(of known: KnownField) -> [ArraySlice<UInt8>] {
        guard has(known) else { return [] }
        return fields.filter { $0.known == known }.map { storage[$0.value] }
    }

    /// Nil if there is no such field, or more than one.
    @inline(__always)
    func withOnlyValue<Result>(of known: KnownField, _ body: (Span<UInt8>) -> Result) -> Result? {
        onlyIndex(of: known).map { body(storage.span.extracting(fields[$0].value)) }
    }

    @inline(__always)
    private func onlyIndex(of known: KnownField) -> Int? {
        guard has(known) else { return nil }
        var found: Int?
        for index in fields.indices where fields[index].known == known {
            guard found == nil else { return nil }
            found = index
        }
        return found
    }

    /// A value as a string. If it isn't UTF-8, every byte beyond ASCII is replaced: `String(decoding:as:)`, which keeps
    /// valid sequences, takes a thousand instructions a byte.
    private static func text(_ value: ArraySlice<UInt8>) -> String {
        if let text = String(validating: value, as: UTF8.self) { return text }
        var repaired: [UInt8] = []
        repaired.reserveCapacity(3 * value.count)
        for byte in value {
            if byte < 0x80 { repaired.append(byte) } else { repaired.append(contentsOf: "\u{FFFD}".utf8) }
        }
        return String(decoding: repaired, as: UTF8.self)
    }

    private func matches(_ field: Field, _ name: HTTPHeaderName) -> Bool {
        if let known = name.known { return field.known == known }
        // Most names differ in length.
        return field.name.count == name.rawValue.utf8.count
            && ASCII.equalIgnoringCase(storage[field.name], name.rawValue.utf8)
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (HTTPHeaderName, String)...) {
        self.init()
        fields.reserveCapacity(elements.count)
        storage.reserveCapacity(
            elements.reduce(0) { $0 + $1.0.rawValue.utf8.count + $1.1.utf8.count })
        for (name, value) in elements { add(name, value) }
    }
}

extension HTTPHeaders: Sequence {
    package func makeIterator() -> AnyIterator<(name: String, value: String)> {
        var index = 0
        return AnyIterator { [storage, fields] in
            guard index < fields.count else { return nil }
            let field = fields[index]
            index += 1
            return (
                String(decoding: storage[field.name], as: UTF8.self),
                String(decoding: storage[field.value], as: UTF8.self)
            )
        }
    }
}

extension HTTPHeaders {
    /// Whether the one `Content-Type` is this media type, in any case and with any parameters (RFC 9110 section 8.3).
    package func hasContent(of mediaType: String) -> Bool {
        guard let index = onlyIndex(of: .contentType) else { return false }
        let name = storage[fields[index].value].prefix { $0 != ASCII.semicolon }
        return ASCII.equalIgnoringCase(ASCII.trimmed(name), mediaType.utf8)
    }
}

/// The name of a header field: a token that is compared without regard to case (RFC 9110 section 5.1).
package struct HTTPHeaderName: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    package let rawValue: String
    /// The field's number, if it is one that the server looks for in requests.
    let known: KnownField?

    package init?(_ token: String) {
        guard !token.isEmpty, token.utf8.allSatisfy(ASCII.isToken) else { return nil }
        self.rawValue = token
        known = KnownField(token)
    }

    /// Traps if it isn't a token.
    package init(stringLiteral token: StaticString) {
        let name = token.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
        precondition(!name.isEmpty && name.utf8.allSatisfy(ASCII.isToken), "a field name is a token")
        self.rawValue = name
        known = KnownField(name)
    }

    package var description: String { rawValue }

    package static func == (left: HTTPHeaderName, right: HTTPHeaderName) -> Bool {
        if let known = left.known { return known == right.known }
        return left.rawValue.utf8.elementsEqual(right.rawValue.utf8) {
            ASCII.lowercased($0) == ASCII.lowercased($1)
        }
    }

    package func hash(into hasher: inout Hasher) {
        for byte in rawValue.utf8 {
            hasher.combine(ASCII.lowercased(byte))
        }
    }

    package static let accept: HTTPHeaderName = "Accept"
    package static let acceptEncoding: HTTPHeaderName = "Accept-Encoding"
    package static let allow: HTTPHeaderName = "Allow"
    package static let authorization: HTTPHeaderName = "Authorization"
    package static let cacheControl: HTTPHeaderName = "Cache-Control"
    package static let connection: HTTPHeaderName = "Connection"
    package static let contentEncoding: HTTPHeaderName = "Content-Encoding"
    package static let contentType: HTTPHeaderName = "Content-Type"
    package static let eTag: HTTPHeaderName = "ETag"
    package static let ifMatch: HTTPHeaderName = "If-Match"
    package static let ifNoneMatch: HTTPHeaderName = "If-None-Match"
    package static let link: HTTPHeaderName = "Link"
    package static let location: HTTPHeaderName = "Location"
    package static let origin: HTTPHeaderName = "Origin"
    package static let retryAfter: HTTPHeaderName = "Retry-After"
    package static let serverTiming: HTTPHeaderName = "Server-Timing"
    package static let traceParent: HTTPHeaderName = "traceparent"
    package static let vary: HTTPHeaderName = "Vary"
    package static let wwwAuthenticate: HTTPHeaderName = "WWW-Authenticate"
    package static let requestID: HTTPHeaderName = "X-Request-Id"
}

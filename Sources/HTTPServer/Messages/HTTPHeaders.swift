/// The header fields of a message, in their order. Names match in any case.
///
/// All names and values lie in one array of bytes, so that a request's fields need no strings until one is asked for.
/// No value has a CR, LF or NUL: a request with one is refused, and in a response each is replaced by a space (RFC 9110
/// section 5.5).
public struct HTTPHeaders: Sendable {
    /// The ranges of a field's name and value in `storage`.
    struct Field: Sendable {
        var nameStart: Int
        var nameEnd: Int
        var valueStart: Int
        var valueEnd: Int
        /// Which known field it is; nil for a field that the server doesn't look for.
        var known: KnownField?
    }

    private(set) var storage: [UInt8]
    private(set) var fields: [Field]
    /// The known fields that are there, so that most questions are answered without a search.
    private(set) var knownFields: UInt32

    /// Makes a list without fields.
    public init() {
        self.storage = []
        self.fields = []
        knownFields = 0
    }

    /// Makes a list of fields that lie in `storage`. Their values must have no CR, LF or NUL.
    init(storage: [UInt8], fields: [Field]) {
        self.storage = storage
        self.fields = fields
        knownFields = fields.reduce(0) { $0 | ($1.known?.bit ?? 0) }
    }

    /// Makes a list of fields, the known ones of which are `knownFields`.
    init(storage: [UInt8], fields: [Field], knownFields: UInt32) {
        self.storage = storage
        self.fields = fields
        self.knownFields = knownFields
    }

    /// Number of fields; repeated ones count every time.
    public var count: Int { fields.count }

    /// Whether there are no fields.
    public var isEmpty: Bool { fields.isEmpty }

    /// Adds a field at the end. Fields of the same name stay.
    ///
    /// CR, LF and NUL in the value become spaces.
    public mutating func add(_ name: HTTPHeaderName, _ value: String) {
        var value = value
        value.withUTF8 { add(name, UnsafeRawBufferPointer($0)) }
    }

    /// The same for a value that is given as bytes.
    public mutating func add(_ name: HTTPHeaderName, _ value: UnsafeRawBufferPointer) {
        let nameStart = storage.count
        storage.reserveCapacity(nameStart + name.rawValue.utf8.count + value.count)
        storage.append(contentsOf: name.rawValue.utf8)
        let nameEnd = storage.count
        storage.append(contentsOf: value)
        let valueEnd = storage.count
        if Self.hasForbiddenByte(value) {
            for index in nameEnd..<valueEnd where Self.isForbidden(storage[index]) {
                storage[index] = ASCII.space
            }
        }
        fields.append(
            Field(
                nameStart: nameStart, nameEnd: nameEnd, valueStart: nameEnd, valueEnd: valueEnd,
                known: name.known))
        knownFields |= name.known?.bit ?? 0
    }

    /// Whether a value has a byte that no value may have.
    static func hasForbiddenByte(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count >= 8 else { return value.contains(where: isForbidden) }
        // All of these bytes are below the blank, and hardly any value has others that are.
        var marks = EightBytes(value, at: value.count - 8).below(ASCII.space)
        for index in stride(from: 0, to: value.count - 8, by: 8) {
            marks |= EightBytes(value, at: index).below(ASCII.space)
        }
        return marks != 0 && value.contains(where: isForbidden)
    }

    /// Whether no value may have a byte.
    private static func isForbidden(_ byte: UInt8) -> Bool {
        byte == ASCII.carriageReturn || byte == ASCII.lineFeed || byte == ASCII.nul
    }

    /// Adds fields at the end, in their order.
    public mutating func add(contentsOf other: HTTPHeaders) {
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

    /// Removes all fields of this name.
    public mutating func remove(_ name: HTTPHeaderName) {
        guard contains(name) else { return }
        let kept = storage.withUnsafeBytes { bytes in
            fields.filter { !Self.matches($0, name, in: bytes) }
        }
        fields = kept
        if let known = name.known { knownFields &= ~known.bit }
    }

    /// Whether there is a field of this name.
    public func contains(_ name: HTTPHeaderName) -> Bool {
        if let known = name.known { return has(known) }
        return storage.withUnsafeBytes { bytes in fields.contains { Self.matches($0, name, in: bytes) } }
    }

    /// Whether there is a known field.
    func has(_ field: KnownField) -> Bool { knownFields & field.bit != 0 }

    /// Whether there is an `Accept-Encoding` or an `If-Match`.
    package var hasAcceptEncodingOrIfMatch: Bool { has(.acceptEncoding) || has(.ifMatch) }

    /// The value of the first field of this name, with bytes that aren't UTF-8 replaced; nil if there is none.
    public func first(_ name: HTTPHeaderName) -> String? {
        withFirstValue(of: name) { Self.text($0) }
    }

    /// The values of all fields of this name, in order.
    public func all(_ name: HTTPHeaderName) -> [String] {
        if isAbsent(name) { return [] }
        return storage.withUnsafeBytes { bytes in
            fields.filter { Self.matches($0, name, in: bytes) }
                .map { Self.text(bytes[$0.valueStart..<$0.valueEnd]) }
        }
    }

    /// Whether a field is a known one and absent.
    private func isAbsent(_ name: HTTPHeaderName) -> Bool {
        name.known.map { knownFields & $0.bit == 0 } ?? false
    }

    /// Number of fields of this name.
    func count(of name: HTTPHeaderName) -> Int {
        if isAbsent(name) { return 0 }
        return storage.withUnsafeBytes { bytes in
            fields.reduce(into: 0) { if Self.matches($1, name, in: bytes) { $0 += 1 } }
        }
    }

    /// Calls a closure with the value of the first field of this name, without making a string; nil if there is none.
    func withFirstValue<Result>(
        of name: HTTPHeaderName, _ body: (Slice<UnsafeRawBufferPointer>) throws -> Result
    ) rethrows -> Result? {
        if isAbsent(name) { return nil }
        return try storage.withUnsafeBytes { bytes in
            for field in fields where Self.matches(field, name, in: bytes) {
                return try body(bytes[field.valueStart..<field.valueEnd])
            }
            return nil
        }
    }

    /// Calls a closure with the value of every known field of this kind, in order.
    @inline(__always)
    func forEachValue(of known: KnownField, _ body: (UnsafeRawBufferPointer) -> Void) {
        guard has(known) else { return }
        storage.withUnsafeBytes { bytes in
            for field in fields where field.known == known {
                body(UnsafeRawBufferPointer(rebasing: bytes[field.valueStart..<field.valueEnd]))
            }
        }
    }

    /// Calls a closure with the value of the one known field of this kind; nil if there is none, or more than one.
    @inline(__always)
    func withOnlyValue<Result>(
        of known: KnownField, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        guard has(known) else { return nil }
        return storage.withUnsafeBytes { bytes in
            var found: Int?
            for index in fields.indices where fields[index].known == known {
                guard found == nil else { return nil }
                found = index
            }
            return found.map { index in
                body(
                    UnsafeRawBufferPointer(rebasing: bytes[fields[index].valueStart..<fields[index].valueEnd])
                )
            }
        }
    }

    /// A value as a string. If it isn't UTF-8, every byte beyond ASCII is replaced: `String(decoding:as:)`, which keeps
    /// valid sequences, takes a thousand instructions a byte.
    private static func text(_ value: Slice<UnsafeRawBufferPointer>) -> String {
        if let text = String(validating: value, as: UTF8.self) { return text }
        var repaired: [UInt8] = []
        repaired.reserveCapacity(3 * value.count)
        for byte in value {
            if byte < 0x80 { repaired.append(byte) } else { repaired.append(contentsOf: "\u{FFFD}".utf8) }
        }
        return String(decoding: repaired, as: UTF8.self)
    }

    private static func matches(
        _ field: Field, _ name: HTTPHeaderName, in bytes: UnsafeRawBufferPointer
    ) -> Bool {
        if let known = name.known { return field.known == known }
        // Most names differ in length.
        return field.nameEnd - field.nameStart == name.rawValue.utf8.count
            && ASCII.equalIgnoringCase(bytes[field.nameStart..<field.nameEnd], name.rawValue.utf8)
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Makes a list from a literal, in its order.
    public init(dictionaryLiteral elements: (HTTPHeaderName, String)...) {
        self.init()
        fields.reserveCapacity(elements.count)
        storage.reserveCapacity(
            elements.reduce(0) { $0 + $1.0.rawValue.utf8.count + $1.1.utf8.count })
        for (name, value) in elements { add(name, value) }
    }
}

extension HTTPHeaders: Sequence {
    /// Iterates over the fields in order, as strings.
    public func makeIterator() -> AnyIterator<(name: String, value: String)> {
        var index = 0
        return AnyIterator { [storage, fields] in
            guard index < fields.count else { return nil }
            let field = fields[index]
            index += 1
            return (
                String(decoding: storage[field.nameStart..<field.nameEnd], as: UTF8.self),
                String(decoding: storage[field.valueStart..<field.valueEnd], as: UTF8.self)
            )
        }
    }
}

extension HTTPHeaders {
    /// Whether the one `Content-Type` is this media type, in any case and with any parameters (RFC 9110 section 8.3).
    public func hasContent(of mediaType: String) -> Bool {
        guard count(of: .contentType) == 1 else { return false }
        return withFirstValue(of: .contentType) { field in
            ASCII.equalIgnoringCase(ASCII.trimmed(field.prefix { $0 != ASCII.semicolon }), mediaType.utf8)
        } ?? false
    }
}

extension HTTPHeaders.Field {
    /// The field of a line that ends at `end`, with its value without the blanks around it.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, name: Range<Int>, end: Int, _ known: KnownField?) {
        (nameStart, nameEnd, valueStart, valueEnd) = (
            name.lowerBound, name.upperBound, name.upperBound + 1, end
        )
        while valueStart < valueEnd, ASCII.isBlank(bytes[valueStart]) { valueStart &+= 1 }
        while valueEnd > valueStart, ASCII.isBlank(bytes[valueEnd - 1]) { valueEnd &-= 1 }
        self.known = known
    }
}

/// The name of a header field: a token that is compared without regard to case (RFC 9110 section 5.1).
public struct HTTPHeaderName: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The name as it is sent.
    public let rawValue: String
    /// The field's number, if it is one that the server looks for in requests.
    let known: KnownField?

    /// Makes a name from a token; nil if the text isn't a token.
    public init?(_ token: String) {
        guard !token.isEmpty, token.utf8.allSatisfy(ASCII.isToken) else { return nil }
        self.rawValue = token
        known = KnownField(token)
    }

    /// Makes a name from a literal. Traps if it isn't a token.
    public init(stringLiteral token: StaticString) {
        let name = token.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
        precondition(!name.isEmpty && name.utf8.allSatisfy(ASCII.isToken), "a field name is a token")
        self.rawValue = name
        known = KnownField(name)
    }

    /// The name as it is sent.
    public var description: String { rawValue }

    /// Whether two names are equal apart from case.
    public static func == (left: HTTPHeaderName, right: HTTPHeaderName) -> Bool {
        if let known = left.known { return known == right.known }
        return left.rawValue.utf8.elementsEqual(right.rawValue.utf8) {
            ASCII.lowercased($0) == ASCII.lowercased($1)
        }
    }

    /// Hashes the name without regard to case.
    public func hash(into hasher: inout Hasher) {
        for byte in rawValue.utf8 {
            hasher.combine(ASCII.lowercased(byte))
        }
    }

    /// Media types that the client accepts.
    public static let accept: HTTPHeaderName = "Accept"
    /// Codings of the body that the client accepts.
    public static let acceptEncoding: HTTPHeaderName = "Accept-Encoding"
    /// Methods that a resource has.
    public static let allow: HTTPHeaderName = "Allow"
    /// Credentials.
    public static let authorization: HTTPHeaderName = "Authorization"
    /// How long a response may be cached.
    public static let cacheControl: HTTPHeaderName = "Cache-Control"
    /// Options of this connection. The server writes it itself.
    public static let connection: HTTPHeaderName = "Connection"
    /// Coding of the body.
    public static let contentEncoding: HTTPHeaderName = "Content-Encoding"
    /// Media type of the body.
    public static let contentType: HTTPHeaderName = "Content-Type"
    /// The representation's entity tag.
    public static let eTag: HTTPHeaderName = "ETag"
    /// Entity tags, one of which the resource must have.
    public static let ifMatch: HTTPHeaderName = "If-Match"
    /// Entity tags of the client's copies.
    public static let ifNoneMatch: HTTPHeaderName = "If-None-Match"
    /// Relations to other resources (RFC 8288).
    public static let link: HTTPHeaderName = "Link"
    /// The origin of the web page whose script sends the request (RFC 6454).
    public static let origin: HTTPHeaderName = "Origin"
    /// Seconds to wait before the next request.
    public static let retryAfter: HTTPHeaderName = "Retry-After"
    /// What the server spent its time on (W3C Server Timing).
    public static let serverTiming: HTTPHeaderName = "Server-Timing"
    /// Position in a distributed trace (W3C Trace Context).
    public static let traceParent: HTTPHeaderName = "traceparent"
    /// Fields of the request that the response depends on.
    public static let vary: HTTPHeaderName = "Vary"
    /// How the client can authenticate.
    public static let wwwAuthenticate: HTTPHeaderName = "WWW-Authenticate"
    /// The request's id, the client's or a new one. The server writes it itself.
    public static let requestID: HTTPHeaderName = "X-Request-Id"
}

/// The fields that requests are asked for, or that decide where they end. Recognised once, when the head is parsed.
enum KnownField: UInt8, Sendable {
    case accept, acceptEncoding, authorization, connection, contentEncoding, contentLength, contentType,
        expect, host
    case ifMatch, ifNoneMatch, origin, traceParent, transferEncoding, requestID

    /// Its bit in a set of fields.
    var bit: UInt32 { 1 &<< UInt32(rawValue) }

    /// The field of this name, in any case; nil for any other.
    @inline(__always)
    init?(_ name: UnsafeRawBufferPointer) {
        // At most three names have the same length.
        @inline(__always) func select(_ field: KnownField, _ text: StaticString) -> KnownField? {
            ASCII.isLowercase(text, of: name) ? field : nil
        }
        let field: KnownField?
        switch name.count {
        case 4: field = select(.host, "host")
        case 6: field = select(.accept, "accept") ?? select(.expect, "expect") ?? select(.origin, "origin")
        case 8: field = select(.ifMatch, "if-match")
        case 10: field = select(.connection, "connection")
        case 11: field = select(.traceParent, "traceparent")
        case 12: field = select(.contentType, "content-type") ?? select(.requestID, "x-request-id")
        case 13: field = select(.ifNoneMatch, "if-none-match") ?? select(.authorization, "authorization")
        case 14: field = select(.contentLength, "content-length")
        case 15: field = select(.acceptEncoding, "accept-encoding")
        case 16: field = select(.contentEncoding, "content-encoding")
        case 17: field = select(.transferEncoding, "transfer-encoding")
        default: field = nil
        }
        guard let field else { return nil }
        self = field
    }

    init?(_ name: String) {
        var name = name
        guard let field = name.withUTF8({ KnownField(UnsafeRawBufferPointer($0)) }) else { return nil }
        self = field
    }
}

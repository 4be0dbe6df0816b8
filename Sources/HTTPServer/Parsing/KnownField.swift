/// The fields that requests are asked for, or that decide where they end. Recognised once, when the head is parsed.
enum KnownField: UInt8, Sendable {
    case accept, acceptEncoding, authorization, connection, contentEncoding, contentLength, contentType,
        expect, host
    case ifMatch, ifNoneMatch, origin, traceParent, transferEncoding, requestID

    var bit: UInt32 { 1 &<< UInt32(rawValue) }

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
        guard let field = Array(name.utf8).withUnsafeBytes({ KnownField($0) }) else { return nil }
        self = field
    }
}

extension HTTPHeaders.Field {
    /// With the value without the blanks around it.
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

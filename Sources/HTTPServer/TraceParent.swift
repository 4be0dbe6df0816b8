/// The `traceparent` field: which trace a request is part of, and which span sent it
/// (W3C Trace Context, section 3.2).
public struct TraceParent: Hashable, Sendable, CustomStringConvertible {
    /// The trace, 32 lower-case hexadecimal digits, not all zero.
    public let traceID: String
    /// The span that sent the request, 16 lower-case hexadecimal digits, not all zero.
    public let parentID: String
    /// Whether the caller may have recorded the trace.
    public let isSampled: Bool

    /// Reads a field's value; nil where it isn't valid. Of a later version than 00 the parts that version 00
    /// knows are taken, as the recommendation demands.
    public init?(_ value: String) {
        var value = value
        let parsed = value.withUTF8 { Self(UnsafeRawBufferPointer($0)[...]) }
        guard let parsed else { return nil }
        self = parsed
    }

    init?(_ bytes: Slice<UnsafeRawBufferPointer>) {
        let start = bytes.startIndex
        guard bytes.count >= 55, let version = Self.hex(bytes[start..<start + 2]), version != 0xFF,
            bytes.count == 55 || version != 0 && bytes[start + 55] == ASCII.hyphen,
            [2, 35, 52].allSatisfy({ bytes[start + $0] == ASCII.hyphen }),
            let high = Self.hex(bytes[start + 3..<start + 19]),
            let low = Self.hex(bytes[start + 19..<start + 35]), high | low != 0,
            let parent = Self.hex(bytes[start + 36..<start + 52]), parent != 0,
            let flags = Self.hex(bytes[start + 53..<start + 55])
        else { return nil }
        traceID = String(decoding: bytes[start + 3..<start + 35], as: UTF8.self)
        parentID = String(decoding: bytes[start + 36..<start + 52], as: UTF8.self)
        isSampled = flags & 1 == 1
    }

    /// The field's value in version 00.
    public var description: String { "00-\(traceID)-\(parentID)-\(isSampled ? "01" : "00")" }

    /// At most 16 lower-case hexadecimal digits as a number.
    private static func hex(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt64? {
        var number: UInt64 = 0
        for byte in bytes {
            guard let digit = ASCII.hexValue(byte), byte == ASCII.lowercased(byte) else { return nil }
            number = number << 4 | UInt64(digit)
        }
        return number
    }
}

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A type that can be made of a column's binary value.
public protocol PostgresDecodable {
    /// Makes the value, or throws a ``PostgresError`` whose code is `decoding`.
    static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Self
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    /// Null becomes nil.
    @inlinable
    public static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Wrapped? {
        guard cell.bytes != nil else { return nil }
        return try Wrapped.decode(cell)
    }
}

extension Bool: PostgresDecodable {
    /// From `boolean`.
    public static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Bool {
        guard cell.type == .bool else { throw cell.wrongType }
        return try cell.integer(UInt8.self) != 0
    }
}

extension Int: PostgresDecodable {
    /// From `smallint`, `integer` or `bigint`.
    public static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Int {
        try cell.narrowed(Int.self)
    }
}

extension Int16: PostgresDecodable {
    /// From any integer type, if the value fits.
    public static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Int16 {
        try cell.narrowed(Int16.self)
    }
}

extension Int32: PostgresDecodable {
    /// From any integer type, if the value fits.
    public static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Int32 {
        try cell.narrowed(Int32.self)
    }
}

extension Int64: PostgresDecodable {
    /// From `smallint`, `integer` or `bigint`.
    public static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Int64 {
        try cell.anyInteger()
    }
}

extension Double: PostgresDecodable {
    /// From `double precision`, or from `real` without loss.
    public static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Double {
        switch cell.type {
        case .float8: Double(bitPattern: try cell.integer(UInt64.self))
        case .float4: Double(Float(bitPattern: try cell.integer(UInt32.self)))
        default: throw cell.wrongType
        }
    }
}

extension Float: PostgresDecodable {
    /// From `real` only: a `double precision` would lose digits in silence.
    public static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Float {
        guard cell.type == .float4 else { throw cell.wrongType }
        return Float(bitPattern: try cell.integer(UInt32.self))
    }
}

extension String: PostgresDecodable {
    /// From the text types, checked to be UTF-8; other types (enums, `numeric`) are cast to text in the query.
    public static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> String {
        switch cell.type {
        case .text, .varchar, .bpchar, .name, .json, .unknown: break
        default: throw cell.wrongType
        }
        let bytes = try cell.nonNullBytes()
        var text = String(decoding: bytes, as: UTF8.self)
        // Decoding repairs what isn't UTF-8, so only valid text comes out as it went in. This costs a tenth
        // of `String(validating:as:)`, which looks up its encoding at run time.
        guard text.withUTF8({ UnsafeRawBufferPointer($0).hasSameBytes(as: bytes) }) else {
            throw cell.malformed
        }
        return text
    }
}

extension PostgresUUID: PostgresDecodable {
    /// From `uuid`.
    public static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> PostgresUUID {
        guard cell.type == .uuid else { throw cell.wrongType }
        let bytes = try cell.nonNullBytes()
        guard bytes.count == 16 else { throw cell.malformed }
        return PostgresUUID(
            high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
}

extension PostgresTimestamp: PostgresDecodable {
    /// From `timestamptz`.
    public static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> PostgresTimestamp {
        guard cell.type == .timestamptz else { throw cell.wrongType }
        return PostgresTimestamp(microsecondsSince2000: try cell.integer(Int64.self))
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
        return memcmp(start, otherStart, count) == 0
    }
}

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A type that can be decoded from a column's binary value.
package protocol PostgresDecodable {
    /// Decodes the value.
    static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Self
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    /// Null becomes nil.
    package static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Wrapped? {
        guard cell.bytes != nil else { return nil }
        return try Wrapped.decode(cell)
    }
}

extension Bool: PostgresDecodable {
    /// From `boolean`.
    package static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Bool {
        guard cell.type == .bool else { throw cell.wrongType }
        return try cell.integer(UInt8.self) != 0
    }
}

extension Int: PostgresDecodable {
    /// From `smallint`, `integer` or `bigint`.
    package static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Int {
        try cell.narrowed(Int.self)
    }
}

extension Int16: PostgresDecodable {
    /// From any integer type, if the value fits.
    package static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Int16 {
        try cell.narrowed(Int16.self)
    }
}

extension Int32: PostgresDecodable {
    /// From any integer type, if the value fits.
    package static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Int32 {
        try cell.narrowed(Int32.self)
    }
}

extension Int64: PostgresDecodable {
    /// From `smallint`, `integer` or `bigint`.
    package static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Int64 {
        try cell.anyInteger()
    }
}

extension Double: PostgresDecodable {
    /// From `double precision`, or from `real` without loss.
    package static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Double {
        switch cell.type {
        case .float8: Double(bitPattern: try cell.integer(UInt64.self))
        case .float4: Double(Float(bitPattern: try cell.integer(UInt32.self)))
        default: throw cell.wrongType
        }
    }
}

extension Float: PostgresDecodable {
    /// From `real` only: a `double precision` would silently lose digits.
    package static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> Float {
        guard cell.type == .float4 else { throw cell.wrongType }
        return Float(bitPattern: try cell.integer(UInt32.self))
    }
}

extension String: PostgresDecodable {
    /// From the text types, checked to be UTF-8; other types (enums, `numeric`) are cast to text in the query.
    package static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> String {
        switch cell.type {
        case .text, .varchar, .bpchar, .name, .json, .unknown: break
        default: throw cell.wrongType
        }
        let bytes = try cell.nonNullBytes()
        var text = String(decoding: bytes, as: UTF8.self)
        // Decoding repairs what isn't UTF-8, so only valid text still has the same bytes. This costs a tenth of
        // `String(validating:as:)`, which looks up its encoding at run time.
        guard text.withUTF8({ UnsafeRawBufferPointer($0).hasSameBytes(as: bytes) }) else {
            throw cell.malformed
        }
        return text
    }
}

extension PostgresUUID: PostgresDecodable {
    package static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> PostgresUUID {
        guard cell.type == .uuid else { throw cell.wrongType }
        let bytes = try cell.nonNullBytes()
        guard bytes.count == 16 else { throw cell.malformed }
        return PostgresUUID(
            high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
}

extension PostgresTimestamp: PostgresDecodable {
    package static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> PostgresTimestamp {
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

// MARK: - Arrays

extension Array: PostgresDecodable where Element: PostgresDecodable {
    /// From a one-dimensional array as `array_send` writes it (arrayfuncs.c).
    package static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> [Element] {
        var reader = ArrayReader(rest: try cell.nonNullBytes())
        guard let dimensions = reader.int32(), reader.int32() != nil, let oid = reader.int32() else {
            throw cell.malformed
        }
        guard dimensions != 0 else { return [] }
        guard dimensions == 1, let count = reader.int32(), reader.int32() != nil, count >= 0 else {
            throw cell.malformed
        }
        let elementType = PostgresType(oid: UInt32(bitPattern: oid))
        // Searches read hundreds of thousands of these: a generic call for each would take longer than the query.
        if elementType == .int8, Element.self == Int64.self,
            let numbers = reader.int64s(count: Int(count)) as? [Element]
        {
            return numbers
        }
        var elements: [Element] = []
        // Each element takes at least the four bytes of its length, so that a false count reserves no more than was sent.
        elements.reserveCapacity(Swift.min(Int(count), reader.rest.count / 4))
        for _ in 0..<count {
            guard let bytes = reader.element() else { throw cell.malformed }
            elements.append(
                try Element.decode(PostgresCell(bytes: bytes, type: elementType, column: cell.column)))
        }
        return elements
    }
}

/// Reads an array's binary form from front to back; its functions return nil where the bytes end too early.
private struct ArrayReader {
    var rest: UnsafeRawBufferPointer

    mutating func int32() -> Int32? {
        guard rest.count >= 4 else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(4)) }
        return Int32(bigEndian: rest.loadUnaligned(as: Int32.self))
    }

    /// All elements as 64-bit integers; nil where one is null or something else.
    mutating func int64s(count: Int) -> [Int64]? {
        guard rest.count / 12 >= count else { return nil }
        var numbers: [Int64] = []
        numbers.reserveCapacity(count)
        for offset in stride(from: 0, to: count * 12, by: 12) {
            guard Int32(bigEndian: rest.loadUnaligned(fromByteOffset: offset, as: Int32.self)) == 8 else {
                return nil
            }
            numbers.append(Int64(bigEndian: rest.loadUnaligned(fromByteOffset: offset + 4, as: Int64.self)))
        }
        return numbers
    }

    /// The inner optional is nil for a null element.
    mutating func element() -> UnsafeRawBufferPointer?? {
        guard let length = int32() else { return nil }
        guard length >= 0 else { return .some(nil) }
        guard rest.count >= Int(length) else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(Int(length))) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(Int(length)))
    }
}

extension Array: PostgresDecodable where Element: PostgresDecodable {
    /// From a one-dimensional array as `array_send` writes it (arrayfuncs.c).
    public static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> [Element] {
        var reader = ArrayReader(rest: try cell.nonNullBytes())
        guard let dimensions = reader.int32(), reader.int32() != nil, let oid = reader.int32() else {
            throw cell.malformed
        }
        guard dimensions != 0 else { return [] }
        guard dimensions == 1, let count = reader.int32(), reader.int32() != nil, count >= 0 else {
            throw cell.malformed
        }
        let elementType = PostgresType(oid: UInt32(bitPattern: oid))
        // Searches read hundreds of thousands of these, and a generic call for each would take longer than the query.
        if elementType == .int8, Element.self == Int64.self,
            let numbers = reader.int64s(count: Int(count)) as? [Element]
        {
            return numbers
        }
        var elements: [Element] = []
        // An element takes at least its length's four bytes: a false count reserves no more than was sent.
        elements.reserveCapacity(Swift.min(Int(count), reader.rest.count / 4))
        for _ in 0..<count {
            guard let bytes = reader.element() else { throw cell.malformed }
            elements.append(
                try Element.decode(PostgresCell(bytes: bytes, type: elementType, column: cell.column)))
        }
        return elements
    }
}

/// Reads an array's binary form from front to back; nil where the bytes end too early.
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

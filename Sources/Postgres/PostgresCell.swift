/// A column's value in a row, undecoded, for the conformances to ``PostgresDecodable``.
///
/// It points into the result's memory: it cannot be copied, and must not outlive the row it came from.
public struct PostgresCell: ~Copyable {
    /// The binary form; nil is null.
    public let bytes: UnsafeRawBufferPointer?
    /// The column's type.
    public let type: PostgresType
    /// The column's number, from 0.
    public let column: Int

    init(bytes: UnsafeRawBufferPointer?, type: PostgresType, column: Int) {
        self.bytes = bytes
        self.type = type
        self.column = column
    }

    /// The bytes of a value that must not be null.
    public func nonNullBytes() throws(PostgresError) -> UnsafeRawBufferPointer {
        guard let bytes else { throw PostgresError(.decoding(.null(column: column))) }
        return bytes
    }

    /// The error of a column whose type cannot become the one asked for.
    public var wrongType: PostgresError {
        PostgresError(.decoding(.wrongType(column: column, type)))
    }

    /// The error of bytes that are no value of the type.
    public var malformed: PostgresError {
        PostgresError(.decoding(.malformed(column: column)))
    }

    /// A big-endian integer that makes up the whole value.
    func integer<Integer: FixedWidthInteger>(_: Integer.Type) throws(PostgresError) -> Integer {
        let bytes = try nonNullBytes()
        guard bytes.count == MemoryLayout<Integer>.size else { throw malformed }
        return Integer(bigEndian: bytes.loadUnaligned(as: Integer.self))
    }

    /// A column of any of the integer types, as wide as the widest.
    func anyInteger() throws(PostgresError) -> Int64 {
        switch type {
        case .int8: try integer(Int64.self)
        case .int4: Int64(try integer(Int32.self))
        case .int2: Int64(try integer(Int16.self))
        default: throw wrongType
        }
    }

    /// A column of any of the integer types, narrowed to the type asked for.
    func narrowed<Integer: FixedWidthInteger>(_: Integer.Type) throws(PostgresError) -> Integer {
        guard let value = Integer(exactly: try anyInteger()) else {
            throw PostgresError(.decoding(.outOfRange(column: column)))
        }
        return value
    }
}

import CLibPQ

/// A query's rows, in binary, in the order in which they came.
///
/// Decoding reads the result's own memory, and copies nothing that isn't asked for. Subscripts outside of
/// `indices` trap, as an array's do; a column that doesn't exist is a typed error.
///
/// `@unchecked Sendable`: libpq documents a `PGresult` as read-only once made, and safe to read from several
/// threads (PostgreSQL manual, "Behavior in Threaded Programs"); it is freed once, in `deinit`.
public final class PostgresRows: @unchecked Sendable, RandomAccessCollection {
    private let result: OpaquePointer
    /// Looked up once for the result rather than for each value.
    private let columnTypes: [PostgresType]
    /// The number of rows.
    public let count: Int
    /// The number of columns.
    public var columnCount: Int { columnTypes.count }

    /// Takes over the result.
    init(result: OpaquePointer) {
        self.result = result
        count = Int(PQntuples(result))
        columnTypes = (0..<PQnfields(result)).map { PostgresType(oid: PQftype(result, $0)) }
    }

    deinit {
        PQclear(result)
    }

    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of rows.
    public var endIndex: Int { count }

    /// The row at that place.
    public subscript(position: Int) -> PostgresRow {
        precondition(position >= 0 && position < count, "row out of range")
        return PostgresRow(rows: self, index: position)
    }

    /// The command's tag, for example `INSERT 0 1`.
    var commandTag: String {
        PQcmdStatus(result).map { String(cString: $0) } ?? ""
    }

    /// The only row.
    ///
    /// - Throws: ``PostgresError/DecodingFailure/rowCount(_:)`` if there are none or several.
    public func only() throws(PostgresError) -> PostgresRow {
        guard count == 1 else { throw PostgresError(.decoding(.rowCount(count))) }
        return self[0]
    }

    /// A column's value. Its bytes live as long as these rows.
    @inline(__always)
    func cell(row: Int, column: Int) throws(PostgresError) -> PostgresCell {
        precondition(row >= 0 && row < count, "row out of range")
        guard columnTypes.indices.contains(column) else {
            throw PostgresError(.decoding(.noColumn(column)))
        }
        let (row, columnNumber) = (Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column))
        let type = columnTypes[column]
        let length = Int(PQgetlength(result, row, columnNumber))
        // libpq says which of the empty values are nulls.
        guard length > 0 || PQgetisnull(result, row, columnNumber) == 0,
            let value = PQgetvalue(result, row, columnNumber)
        else {
            return PostgresCell(bytes: nil, type: type, column: column)
        }
        return PostgresCell(
            bytes: UnsafeRawBufferPointer(start: value, count: length), type: type, column: column)
    }
}

// MARK: - Values of a known type

extension PostgresRows {
    /// A `bigint`; nil is null. Like `self[row].decode(Int64?.self, at: column)`, for values that each request reads
    /// many times.
    ///
    /// - Throws: ``PostgresError/Code/decoding(_:)``, where the column has another type or doesn't exist.
    public func int8(row: Int, column: Int) throws(PostgresError) -> Int64? {
        let cell = try cell(row: row, column: column)
        guard cell.type == .int8 else { throw cell.wrongType }
        guard let bytes = cell.bytes else { return nil }
        guard bytes.count == 8 else { throw cell.malformed }
        return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    }

    /// A `circle`: its centre and its radius; nil is null. As ``int8(row:column:)``.
    ///
    /// - Throws: ``PostgresError/Code/decoding(_:)``, where the column has another type or doesn't exist.
    public func circle(
        row: Int, column: Int
    ) throws(PostgresError) -> (x: Double, y: Double, radius: Double)? {
        let cell = try cell(row: row, column: column)
        guard cell.type == .circle else { throw cell.wrongType }
        guard let bytes = cell.bytes else { return nil }
        guard bytes.count == 24 else { throw cell.malformed }
        let (x, y, radius) = bytes.loadUnaligned(as: (UInt64, UInt64, UInt64).self)
        return (
            Double(bitPattern: UInt64(bigEndian: x)), Double(bitPattern: UInt64(bigEndian: y)),
            Double(bitPattern: UInt64(bigEndian: radius))
        )
    }

    /// The bytes of a `text`, which live as long as these rows; nil is null.
    ///
    /// - Throws: ``PostgresError/Code/decoding(_:)``, where the column has another type or doesn't exist.
    public func text(row: Int, column: Int) throws(PostgresError) -> UnsafeRawBufferPointer? {
        let cell = try cell(row: row, column: column)
        guard cell.type == .text else { throw cell.wrongType }
        return cell.bytes
    }
}

/// One row of a result: keeps the whole result alive.
public struct PostgresRow: Sendable {
    /// The result that the row belongs to.
    public let rows: PostgresRows
    /// The row's place in it.
    public let index: Int

    init(rows: PostgresRows, index: Int) {
        self.rows = rows
        self.index = index
    }

    /// A column's value as the type asked for; columns count from 0.
    ///
    /// Null becomes the nil of an optional type.
    ///
    /// - Throws: ``PostgresError/Code/decoding(_:)``; it never traps.
    @inlinable
    public func decode<Value: PostgresDecodable>(
        _ type: Value.Type = Value.self, at column: Int
    ) throws(PostgresError) -> Value {
        try Value.decode(cell(at: column))
    }

    /// A column's value, undecoded: for types that decode themselves. Valid as long as the row.
    ///
    /// - Throws: ``PostgresError/DecodingFailure/noColumn(_:)``.
    public func cell(at column: Int) throws(PostgresError) -> PostgresCell {
        try rows.cell(row: index, column: column)
    }
}

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
    ///
    /// - Throws: ``PostgresError/DecodingFailure/null(column:)``.
    public func nonNullBytes() throws(PostgresError) -> UnsafeRawBufferPointer {
        guard let bytes else { throw PostgresError(.decoding(.null(column: column))) }
        return bytes
    }

    /// The error for a column whose type cannot become the one asked for.
    public var wrongType: PostgresError {
        PostgresError(.decoding(.wrongType(column: column, type)))
    }

    /// The error for bytes that are no value of the type.
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

import CLibPQ

/// A query's rows, in binary, in the order in which they came.
///
/// Decoding reads the result's own memory, and copies nothing that isn't asked for. Subscripts outside of
/// `indices` trap, as an array's do; a column that doesn't exist is a typed error.
///
/// `@unchecked Sendable`: libpq documents a `PGresult` as read-only once made, and safe to read from several
/// threads (PostgreSQL manual, "Behavior in Threaded Programs"); it is freed once, in `deinit`.
package final class PostgresRows: @unchecked Sendable, RandomAccessCollection {
    private let result: OpaquePointer
    /// Looked up once for the result rather than for each value.
    private let columnTypes: [PostgresType]
    package let count: Int
    package var columnCount: Int { columnTypes.count }

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
    package var startIndex: Int { 0 }
    /// The number of rows.
    package var endIndex: Int { count }

    package subscript(position: Int) -> PostgresRow {
        precondition(position >= 0 && position < count, "row out of range")
        return PostgresRow(rows: self, index: position)
    }

    /// How many rows a statement has inserted, changed or removed; 0 for others.
    package var affectedCount: Int { commandTag.split(separator: " ").last.flatMap { Int($0) } ?? 0 }

    /// The command's tag, for example `INSERT 0 1`.
    var commandTag: String {
        PQcmdStatus(result).map { String(cString: $0) } ?? ""
    }

    /// The only row.
    ///
    /// - Throws: ``PostgresError/DecodingFailure/rowCount(_:)`` if there are none or several.
    package func only() throws(PostgresError) -> PostgresRow {
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

/// One row of a result: keeps the whole result alive.
package struct PostgresRow: Sendable {
    /// The result that the row belongs to.
    package let rows: PostgresRows
    /// The row's place in it.
    package let index: Int

    init(rows: PostgresRows, index: Int) {
        self.rows = rows
        self.index = index
    }

    /// A column's value as the type asked for; columns count from 0.
    ///
    /// Null becomes the nil of an optional type.
    package func decode<Value: PostgresDecodable>(
        _ type: Value.Type = Value.self, at column: Int
    ) throws(PostgresError) -> Value {
        try Value.decode(cell(at: column))
    }

    /// A column's value, undecoded: for types that decode themselves. Valid as long as the row.
    ///
    /// - Throws: ``PostgresError/DecodingFailure/noColumn(_:)``.
    package func cell(at column: Int) throws(PostgresError) -> PostgresCell {
        try rows.cell(row: index, column: column)
    }
}

/// A column's value in a row, undecoded, for the conformances to ``PostgresDecodable``.
///
/// It points into the result's memory: it cannot be copied, and must not outlive the row it came from.
package struct PostgresCell: ~Copyable {
    /// The binary form; nil is null.
    package let bytes: UnsafeRawBufferPointer?
    package let type: PostgresType
    /// The column's number, from 0.
    package let column: Int

    init(bytes: UnsafeRawBufferPointer?, type: PostgresType, column: Int) {
        self.bytes = bytes
        self.type = type
        self.column = column
    }

    /// The bytes of a value that must not be null.
    ///
    /// - Throws: ``PostgresError/DecodingFailure/null(column:)``.
    package func nonNullBytes() throws(PostgresError) -> UnsafeRawBufferPointer {
        guard let bytes else { throw PostgresError(.decoding(.null(column: column))) }
        return bytes
    }

    package var wrongType: PostgresError {
        PostgresError(.decoding(.wrongType(column: column, type)))
    }

    /// The error for bytes that are no value of the type.
    package var malformed: PostgresError {
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

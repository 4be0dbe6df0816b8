import CLibPQ

/// A query's rows, in binary, in the order in which they came.
///
/// Decoding reads the result's own memory; nothing is copied before it is asked for. Subscripts outside of
/// `indices` trap, as an array's do; a column that doesn't exist is a typed error.
///
/// `@unchecked Sendable`: libpq documents a `PGresult` as read-only once made, and safe to read from several
/// threads (PostgreSQL manual, "Behavior in Threaded Programs"); it is freed once, in `deinit`.
public final class PostgresRows: @unchecked Sendable, RandomAccessCollection {
    private let result: OpaquePointer
    /// Looked up once a result rather than once a value.
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

    /// How many rows the command inserted, updated, deleted, copied or selected; nil for other commands.
    public var affectedRowCount: Int? {
        PQcmdTuples(result).flatMap { Int(String(cString: $0)) }
    }

    /// The command's tag, for example `INSERT 0 1`.
    var commandTag: String {
        PQcmdStatus(result).map { String(cString: $0) } ?? ""
    }

    /// The only row.
    ///
    /// Throws ``PostgresError/DecodingFailure/rowCount(_:)`` if there are none or several.
    public func only() throws(PostgresError) -> PostgresRow {
        guard count == 1 else { throw PostgresError(.decoding(.rowCount(count))) }
        return self[0]
    }

    /// A column's value. Its bytes live as long as these rows.
    @inline(__always)
    func cell(row: Int, column: Int) throws(PostgresError) -> PostgresCell {
        guard columnTypes.indices.contains(column) else {
            throw PostgresError(.decoding(.noColumn(column)))
        }
        let (row, columnNumber) = (Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column))
        let type = columnTypes[column]
        let length = Int(PQgetlength(result, row, columnNumber))
        // Only an empty value may be a null.
        guard length > 0 || PQgetisnull(result, row, columnNumber) == 0,
            let value = PQgetvalue(result, row, columnNumber)
        else {
            return PostgresCell(bytes: nil, type: type, column: column)
        }
        return PostgresCell(
            bytes: UnsafeRawBufferPointer(start: value, count: length), type: type, column: column)
    }
}

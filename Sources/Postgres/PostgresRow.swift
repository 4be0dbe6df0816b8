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
    /// An optional type takes null as nil. Throws ``PostgresError/Code/decoding(_:)``; never traps.
    @inlinable
    public func decode<Value: PostgresDecodable>(
        _ type: Value.Type = Value.self, at column: Int
    ) throws(PostgresError) -> Value {
        try Value.decode(cell(at: column))
    }

    /// Calls `body` with a column's bytes as the server sent them (binary form), without copying them;
    /// nil is null. The bytes are valid during the call only.
    public func withBytes<Result>(
        at column: Int, _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) throws -> Result {
        let bytes = try cell(at: column).bytes
        return try withExtendedLifetime(rows) { try body(bytes) }
    }

    /// A column's value, undecoded: for types that decode themselves. Valid while the row is.
    public func cell(at column: Int) throws(PostgresError) -> PostgresCell {
        try rows.cell(row: index, column: column)
    }
}

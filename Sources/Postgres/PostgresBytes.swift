/// The bytes of a `bytea` column, copied.
///
/// To read them without a copy, use ``PostgresRow/withBytes(at:_:)``.
public struct PostgresBytes: Sendable, Hashable, PostgresDecodable {
    /// The bytes.
    public let bytes: [UInt8]

    /// From `bytea`.
    public static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> PostgresBytes {
        guard cell.type == .bytea else { throw cell.wrongType }
        return PostgresBytes(bytes: Array(try cell.nonNullBytes()))
    }
}

import Places
import Postgres

extension DatasetVersion: PostgresDecodable {
    private static let byteCount = 40

    /// Decodes `bytea`: the id, the revision and the incarnation, as `Migrations/0109_record_changed_places.sql` writes them.
    ///
    /// - Throws: `decoding` where the cell is something else.
    package static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> DatasetVersion {
        guard cell.type == .bytea else { throw cell.wrongType }
        let bytes = try cell.nonNullBytes()
        guard bytes.count == byteCount else { throw cell.malformed }
        func word(at offset: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        return DatasetVersion(
            datasetID: DatasetID(high: word(at: 0), low: word(at: 8)),
            revision: Int64(bitPattern: word(at: 16)),
            incarnation: DatasetID(high: word(at: 24), low: word(at: 32)))
    }
}

import POIService
import Postgres

/// Which dataset rows were read from: what the view `dataset` has in its column `version`.
struct DatasetVersion: Hashable, Sendable {
    /// The name of the dataset, which entity tags are made from.
    let datasetID: DatasetID
    /// The number of the transaction that made it; grows with each that changes places.
    let revision: Int64
    /// The name of the database's history: another one after a restore, whose revisions mean nothing to the former.
    let incarnation: DatasetID

    /// Whether a reader that has seen the other one would go back by seeing this one.
    func isOlder(than other: DatasetVersion) -> Bool {
        incarnation == other.incarnation && revision < other.revision
    }
}

extension DatasetVersion: PostgresDecodable {
    private static let byteCount = 40

    /// From `bytea`: the id, the revision and the incarnation, as `Migrations/0109_record_changed_places.sql` writes them.
    ///
    /// - Throws: `decoding` where the cell is something else.
    static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> DatasetVersion {
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

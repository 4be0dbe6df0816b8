import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Postgres

/// The places of a page in the order of its ranking, written from the rows that they were read in.
struct RankedRows: PlaceSource {
    /// A place: its row, where it is, and the distance that is shown.
    struct Item {
        let row: Int
        let place: Candidate
        let distanceMeters: Double?
    }

    let rows: PlaceRows
    let items: [Item]

    var count: Int { items.count }

    /// Writes a place.
    ///
    /// - Throws: `failed` where the row's texts aren't what the statements return.
    func write(
        _ index: Int, as style: PlaceStyle, to writer: inout JSONWriter
    ) throws(PlaceStoreError) {
        let item = items[index]
        do throws(PostgresError) {
            try rows.write(
                item.place, at: item.row, distanceMeters: item.distanceMeters, as: style, to: &writer)
        } catch {
            throw PlaceStoreError(error)
        }
    }
}

/// Reads the rows of `NearestQuery` and `PlaceStatements.byID`. The first has nothing but the dataset's version, each other one a
/// place: its id, its position and chord, and `PlaceStatements.texts`.
struct PlaceRows {
    private enum Column {
        static var id: Int { 0 }
        static var texts: Int { 2 }
        static var version: Int { 3 }
    }

    private let rows: PostgresRows
    /// The dataset that the rows were read from; nil where it isn't known.
    let version: DatasetVersion?

    /// - Throws: `decoding` where the first row isn't that of the version.
    init(_ rows: PostgresRows) throws(PostgresError) {
        guard let first = rows.first, try rows.int8(row: 0, column: Column.id) == nil
        else { throw PostgresError(.decoding(.rowCount(rows.count))) }
        self.rows = rows
        version = try first.decode(at: Column.version)
    }

    /// The rows with places.
    var places: Range<Int> { 1..<rows.count }

    /// What the ranking needs of a place.
    func candidate(at row: Int) throws(PostgresError) -> Candidate { try rows.candidate(row: row) }

    /// Writes a place at a distance.
    ///
    /// - Throws: `decoding` where its texts aren't what the statements return.
    func write(
        _ place: Candidate, at row: Int, distanceMeters: Double?, as style: PlaceStyle,
        to writer: inout JSONWriter
    ) throws(PostgresError) {
        guard let texts = try rows.text(row: row, column: Column.texts),
            style.write(
                id: Int(place.id), latitude: place.latitude, longitude: place.longitude, joinedTexts: texts,
                distance: distanceMeters, to: &writer)
        else { throw PostgresError(.decoding(.malformed(column: Column.texts))) }
    }
}

extension PostgresRows {
    /// The place of a row that begins with its id, and with its position and chord.
    func candidate(row: Int) throws(PostgresError) -> Candidate {
        guard let id = try int8(row: row, column: 0) else { throw PostgresError(.decoding(.null(column: 0))) }
        guard let circle = try circle(row: row, column: 1)
        else { throw PostgresError(.decoding(.null(column: 1))) }
        return Candidate(
            id: id, latitude: circle.y, longitude: circle.x,
            chordMeters: circle.radius < 0 ? nil : circle.radius)
    }
}

extension DatasetID: PostgresDecodable {
    /// From `uuid`.
    ///
    /// - Throws: `decoding` where the cell isn't a UUID.
    public static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> DatasetID {
        let uuid = try PostgresUUID.decode(cell)
        return DatasetID(high: uuid.high, low: uuid.low)
    }

    /// Reads a UUID as PostgreSQL writes it; nil for anything else.
    init?(text: String) {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        guard text.utf8.count == 36, digits.count == 32,
            let high = UInt64(String(decoding: digits.prefix(16), as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits.suffix(16), as: UTF8.self), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }
}

extension DatasetVersion: PostgresDecodable {
    private static let byteCount = 40

    /// Decodes `bytea`: the id, the revision and the incarnation, as `Migrations/0205_create_dataset_log.sql` writes them.
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

import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Postgres

/// The places of a page as records, made from rows in the order of the page's ranking.
struct RankedRows: PlaceSource {
    /// A place: its row, where it is, and the distance that is shown.
    struct Item {
        let row: Int
        let place: Candidate
        let distanceMeters: Double?
    }

    /// The records of all places, one after the other.
    private let records: [UInt8]
    private var places: [(recordEnd: Int, distanceMeters: Double?)] = []

    /// Makes the records of all places at once, in memory that is allocated once.
    ///
    /// - Throws: `decoding` where a row isn't what the statements return.
    init(rows: PostgresRows, items: [Item]) throws(PostgresError) {
        var records = ByteBuffer(capacity: 384 * items.count)
        places.reserveCapacity(items.count)
        var end = 0
        for item in items {
            end += try PlaceRow(rows, item.row).appendRecord(of: item.place, to: &records)
            places.append((end, item.distanceMeters))
        }
        self.records = records.bytes
    }

    var count: Int { places.count }

    /// GeoJSON takes up to 160 bytes more than a record.
    var expectedBytes: Int { records.count + 160 * count }

    func write(_ index: Int, as form: PlacesForm, to writer: inout JSONWriter) {
        let start = index == 0 ? 0 : places[index - 1].recordEnd
        records.withUnsafeBytes {
            form.write(
                record: UnsafeRawBufferPointer(rebasing: $0[start..<places[index].recordEnd]),
                distance: places[index].distanceMeters, to: &writer)
        }
    }
}

/// Reads the columns of `NearestQuery` and `PlaceStatements.byID`: id, `PlaceStatements.position`, `PlaceStatements.texts`,
/// chord and dataset version.
struct PlaceRow {
    private enum Column {
        static let (id, position, texts, chord, version) = (0, 1, 2, 3, 4)
    }

    /// How many columns there are.
    static let columnCount = 5

    private let rows: PostgresRows
    private let index: Int

    /// Reads the row with this index.
    init(_ rows: PostgresRows, _ index: Int) {
        self.rows = rows
        self.index = index
    }

    /// The place's id; nil in a row that has only the dataset's version.
    func id() throws(PostgresError) -> Int64? {
        try rows.int8(row: index, column: Column.id)
    }

    /// The dataset that the row was read from.
    func version() throws(PostgresError) -> DatasetVersion? {
        try rows[index].decode(at: Column.version)
    }

    /// What the ranking needs; nil in a row that has only the dataset's version.
    func candidate() throws(PostgresError) -> Candidate? {
        guard let id = try id() else { return nil }
        guard let position = try rows.point(row: index, column: Column.position)
        else { throw PostgresError(.decoding(.null(column: Column.position))) }
        return Candidate(
            id: id, latitude: position.y, longitude: position.x,
            chordMeters: try rows.float8(row: index, column: Column.chord))
    }

    /// Appends the place's record, and returns its size.
    func appendRecord(of place: Candidate, to records: inout ByteBuffer) throws(PostgresError) -> Int {
        guard let texts = try rows.text(row: index, column: Column.texts),
            let size = PlaceRecord.append(
                id: place.id, latitude: place.latitude, longitude: place.longitude, joinedTexts: texts,
                to: &records)
        else { throw PostgresError(.decoding(.malformed(column: Column.texts))) }
        return size
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

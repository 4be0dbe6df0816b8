import POIService
import PointsOfInterestAPI
import Postgres

/// The rows of a page in the order of its ranking, as the page's source of places.
struct RankedRows: PlaceSource {
    /// A place: its row, and the distance that is shown.
    struct Item {
        let row: Int
        let distanceMeters: Double?
    }

    let rows: PostgresRows
    let items: [Item]

    var count: Int { items.count }

    func withFields(at index: Int, _ body: (PlaceFields) -> Void) throws(PlaceStoreError) {
        do throws(PostgresError) {
            let item = items[index]
            try PlaceRow(rows[item.row]).withFields(distanceMeters: item.distanceMeters, body)
        } catch {
            throw PlaceStoreError(error)
        }
    }
}

/// Reads the columns that `nearest`, `byID` and `WordStatements.nearby` begin with: id, position, `PlaceStatements.columns`
/// in their order, chord and dataset id.
struct PlaceRow {
    private enum Column: Int {
        case id, latitude, longitude, name, category, featured, address, website
        case sourceDataset, sourceID, sourceLicense, chord, datasetID
    }

    /// How many columns there are.
    static let columnCount = Column.datasetID.rawValue + 1

    private let row: PostgresRow

    init(_ row: PostgresRow) {
        self.row = row
    }

    /// The place's id; nil in a row that has only the dataset's.
    func id() throws(PostgresError) -> Int64? {
        try decode(.id)
    }

    /// The dataset that the row was read from.
    func datasetID() throws(PostgresError) -> DatasetID? {
        try decode(.datasetID)
    }

    /// What the ranking needs.
    func candidate() throws(PostgresError) -> Candidate {
        Candidate(
            id: try decode(.id), latitude: try decode(.latitude), longitude: try decode(.longitude),
            chordMeters: try decode(.chord))
    }

    /// Passes the place's fields, with a distance in metres, to a closure.
    func withFields(
        distanceMeters: Double?, _ body: (PlaceFields) -> Void
    ) throws(PostgresError) {
        let fields = PlaceFields(
            id: Int(try decode(.id) as Int64), name: try text(.name), category: try text(.category),
            latitude: try decode(.latitude), longitude: try decode(.longitude),
            featured: try decode(.featured), distance: distanceMeters,
            address: try optionalText(.address), website: try optionalText(.website), source: try source())
        withExtendedLifetime(row) { body(fields) }
    }

    /// The three columns are all null or none is, by the table's check.
    private func source() throws(PostgresError) -> PlaceFields.Source? {
        guard let dataset = try optionalText(.sourceDataset), let id = try optionalText(.sourceID),
            let license = try optionalText(.sourceLicense)
        else { return nil }
        return PlaceFields.Source(dataset: dataset, id: id, license: license)
    }

    /// A text that is never null, by the table's definition.
    private func text(_ column: Column) throws(PostgresError) -> PlaceFields.Text {
        guard let text = try optionalText(column) else {
            throw PostgresError(.decoding(.null(column: column.rawValue)))
        }
        return text
    }

    /// The bytes of a text, valid while the row is.
    private func optionalText(_ column: Column) throws(PostgresError) -> PlaceFields.Text? {
        try row.cell(at: column.rawValue).bytes.map { $0.assumingMemoryBound(to: UInt8.self) }
    }

    private func decode<Value: PostgresDecodable>(_ column: Column) throws(PostgresError) -> Value {
        try row.decode(Value.self, at: column.rawValue)
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

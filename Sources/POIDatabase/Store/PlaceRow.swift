import POIService
import PointsOfInterestAPI
import Postgres

/// Reads the columns that `PlaceStatements.nearest` and `byID` answer.
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

    /// The place's id; nil in a row that only brings the dataset's.
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

    /// Lends the place's fields, at a distance in metres, to a closure.
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

    /// The three columns are all there or none, by the table's check.
    private func source() throws(PostgresError) -> PlaceFields.Source? {
        guard let dataset = try optionalText(.sourceDataset), let id = try optionalText(.sourceID),
            let license = try optionalText(.sourceLicense)
        else { return nil }
        return PlaceFields.Source(dataset: dataset, id: id, license: license)
    }

    /// A text that is there by the table's definition.
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
    public static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> DatasetID {
        let uuid = try PostgresUUID.decode(cell)
        return DatasetID(high: uuid.high, low: uuid.low)
    }
}

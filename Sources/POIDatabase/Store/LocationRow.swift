import POIService
import PointsOfInterestAPI
import Postgres

/// Reads the columns that `LocationStatements` answer.
struct LocationRow {
    private enum Column: Int {
        case id, latitude, longitude, chord, name, category, featured, address, website
        case sourceDataset, sourceID, sourceLicense
    }

    private let row: PostgresRow

    init(_ row: PostgresRow) {
        self.row = row
    }

    /// What the ranking needs.
    func candidate() throws(PostgresError) -> Candidate {
        Candidate(
            id: try decode(.id), latitude: try decode(.latitude), longitude: try decode(.longitude),
            chordMeters: try decode(.chord))
    }

    /// The chord from the query's centre, in metres.
    func chordMeters() throws(PostgresError) -> Double {
        try decode(.chord)
    }

    /// The whole place, at a distance in metres.
    func place(distanceMeters: Double) throws(PostgresError) -> PointOfInterest {
        PointOfInterest(
            id: try decode(.id), name: try decode(.name), category: try decode(.category),
            latitude: try decode(.latitude), longitude: try decode(.longitude),
            featured: try decode(.featured), distance: distanceMeters,
            address: try decode(.address), website: try decode(.website), source: try source())
    }

    /// The three columns are all there or none, by the table's check.
    private func source() throws(PostgresError) -> PointOfInterest.Source? {
        guard let dataset: String = try decode(.sourceDataset), let id: String = try decode(.sourceID),
            let license: String = try decode(.sourceLicense)
        else { return nil }
        return PointOfInterest.Source(dataset: dataset, id: id, license: license)
    }

    private func decode<Value: PostgresDecodable>(_ column: Column) throws(PostgresError) -> Value {
        try row.decode(Value.self, at: column.rawValue)
    }
}

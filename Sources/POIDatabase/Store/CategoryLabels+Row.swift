import Foundation
import PointsOfInterestServerAPI
import Postgres

extension CategoryLabels {
    /// Reads a column with JSON: words by the names of categories and by languages, which the table's checks have made sure of.
    init(_ row: PostgresRow, at column: Int) throws(PostgresError) {
        let json = Data(try row.decode(String.self, at: column).utf8)
        guard let labels = try? JSONDecoder().decode(Self.self, from: json) else {
            throw PostgresError(.unexpectedResult)
        }
        self = labels
    }
}

import Foundation
import PointsOfInterestAPI
import PrivateCluster
import Testing

@testable import POIDatabase

/// The columns of a place, in all the places that name them.
@Suite("The columns of a place", .timeLimit(.minutes(5)))
struct PlaceColumnTests {
    /// The columns that a writer sets.
    private let columns: [String]

    init() throws {
        columns = try MigratedDatabase.empty().execute(
            """
            SELECT attname FROM pg_attribute WHERE attrelid = 'locations'::regclass AND attnum > 0 AND NOT attisdropped
                AND attgenerated = '' AND attidentity = '' ORDER BY attnum
            """
        ).split(separator: "\n").map(String.init)
    }

    /// What of the columns an SQL text doesn't name.
    private func missing(in sql: String, prefix: String = "") -> [String] {
        columns.filter { !sql.contains(prefix + $0) }
    }

    @Test("Each column is read into memory and by a query, and an import writes it")
    func read() {
        #expect(!columns.isEmpty)
        #expect(Set(PlaceCopyDecoder.columns.text.components(separatedBy: ", ")) == Set(columns))
        #expect(PlaceCopyDecoder.Column.allCases.count == columns.count + 1)
        #expect(missing(in: PlaceStatements.position.text + PlaceStatements.texts.text) == [])
        #expect(missing(in: ImportStatements.insert.text) == [])
    }

    @Test("An import compares and changes each column, but for the two that say which place it is")
    func compared() {
        let key = ["source_dataset", "source_id"]
        let update = ImportStatements.update.text.components(separatedBy: " FROM pg_temp.import_rows")
        #expect(columns.filter { !update[0].contains("\($0) = ") } == key)
        let differs = update[1].components(separatedBy: " AND (place.name").last ?? ""
        #expect(missing(in: "(place.name" + differs, prefix: "place.") == key)
    }

    @Test("Each column is a member of the contract's place")
    func contract() throws {
        let place = PointOfInterest(
            id: 1, name: "a", category: "b", latitude: 1, longitude: 2, address: "c", website: "https://d",
            source: PointOfInterest.Source(dataset: "e", id: "f", license: "g"))
        let json =
            try JSONSerialization.jsonObject(with: JSONEncoder().encode(place)) as? [String: Any] ?? [:]
        let source = json["source"] as? [String: Any] ?? [:]
        let members = json.keys.filter { $0 != "source" } + source.keys.map { "source_\($0)" }
        #expect(Set(members) == Set(columns + ["id"]))
    }
}

import Foundation
import PlaceImport
import Testing
import PointsOfInterestServerAPI

@Suite("The mapping for GeoNames")
struct GeoNamesTests {
    /// A row of GeoNames' dumps.
    private static func row(
        _ id: Int, _ name: String, ascii: String = "", others: String = "", country: String = "",
        population: String = ""
    ) -> String {
        [
            "\(id)", name, ascii, others, "1", "2", "P", "PPL", country, "", "", "", "", "", population, "",
            "", "",
            "",
        ].joined(separator: "\t") + "\n"
    }

    @Test("A place of GeoNames has its other names once, its country, and an importance by its population")
    func towns() throws {
        let rows = [
            Self.row(
                1, "Paris", ascii: "Paris", others: "Lutece,Paris,, パリ ,Lutece", country: "FR",
                population: "2138551"),
            Self.row(2, "Zürich", ascii: "Zurich", others: "Turitg; a,Zurich", country: "CH"),
            Self.row(3, "Prishtina", country: "XK", population: "0"),
            // Seas have no country, and some codes are of countries that are gone.
            Self.row(4, "A"), Self.row(5, "B", country: "YU"), Self.row(6, "C", country: "fr"),
        ]
        let places = try read(rows.joined(), as: "XY.txt") { $0.mapping = "geonames" }.places
        #expect(
            places.map(\.otherNames) == [["Lutece", "パリ"], ["Zurich", "Turitg; a"], [], [], [], []])
        #expect(places.map(\.address) == ["France", "Switzerland", "Kosovo", nil, nil, nil])
        #expect(places.map(\.importance) == [886, 0, 0, 0, 0, 0])
    }

    @Test("Of more than 300 other names, or 8 KiB, the first stay, and the others are counted")
    func manyNames() throws {
        func place(_ others: [String]) throws -> (place: ImportedPlace, dropped: Int?) {
            let row = Self.row(1, "A", ascii: "B", others: others.joined(separator: ","))
            let result = try read(row, as: "XY.txt") { $0.mapping = "geonames" }
            return (try #require(result.places.first), result.progress.normalised[.namesDropped])
        }
        let numbers = (0..<301).map { "\($0)" }
        let many = try place(numbers)
        #expect(many.place.otherNames == ["B"] + numbers.prefix(299) && many.dropped == 2)
        let lines = (100..<150).map { "\($0)" + String(repeating: "a", count: 197) }
        let long = try place(lines + ["c"])
        #expect(long.place.otherNames == ["B"] + lines.prefix(40) + ["c"] && long.dropped == 10)
    }

    @Test("The table of countries has each of ISO 3166-1's, and Kosovo, by names that differ")
    func countries() throws {
        let json = try #require(
            JSONSerialization.jsonObject(with: MappingTests.builtIn("geonames")) as? [String: Any])
        let tables = try #require(json["lookup"] as? [String: [String: String]])
        let countries = try #require(tables["countries"])
        #expect(countries.count == 250)
        #expect(Set(countries.values).count == 250)
        let known = Set(Locale.Region.isoRegions.map(\.identifier))
        #expect(countries.keys.filter { !known.contains($0) } == [])
        #expect(countries.values.filter { !TableCheck.isSingleLine($0, maximumLength: 300) } == [])
    }
}

import PointsOfInterestClient
import Testing

@testable import PointsOfInterestContract

@Suite("Comparison by brute force", .onceOnly)
struct BruteForceTests {
    @Test(
        "A word matches by its beginning, without case and accents; where the contract leaves it open, both may be",
        arguments: [
            ("Café Stritch", "cafe", TextMatch.matches), ("Café Stritch", "STRI caf", .matches),
            ("Cafe\u{301} Stritch", "café", .matches), ("Café Stritch", "afe", .differs),
            ("Café Stritch", "cafe x", .differs), ("A&B/C-D", "d c b a", .matches), ("A_B", "ab", .differs),
            ("Children's Museum", "child", .matches), ("Children's Museum", "childrens", .open),
            ("Straße 7", "7", .matches), ("Straße 7", "strasse", .open), ("東京タワー", "tower", .open),
            ("Plain", "東", .open), ("Plain", "", .open),
        ])
    func folding(name: String, text: String, expected: TextMatch) {
        #expect(FoldedName(name).match(text) == expected)
    }

    @Test("A tile's box is in that tile alone", arguments: [0, 1, 5, 10, 15])
    func tileBox(level: Int) throws {
        for (latitude, longitude) in [
            (37.3, -121.9), (-0.1, 0), (0, 11.25), (0.1, 179.999), (89, -180), (-90, 180),
        ] {
            let tile = MapTile(level: level, latitude: latitude, longitude: longitude)
            let box = try #require(tile.box)
            for corner in [(box.north, box.west), (box.south, box.east), (box.south, box.west)] {
                // At level 0 the tile's eastern edge is its western one.
                let found = MapTile(level: level, latitude: corner.0, longitude: corner.1)
                #expect(found == tile, "\(corner)")
            }
            let touched = TouchedCells(box, zoom: level + 3)
            #expect(touched.level == level + 5)
            let first = MapTile(level: level + 5, latitude: box.north, longitude: box.west)
            #expect(touched.number(of: first) == 0)
        }
    }

    @Test(
        "Cells are numbered from the box's west, across the antimeridian too")
    func cells() throws {
        let box = try FoundBox.box(170, -10, -170, 10)
        let touched = TouchedCells(box, zoom: 3)
        func number(_ latitude: Double, _ longitude: Double) -> Int? {
            touched.number(of: MapTile(level: 5, latitude: latitude, longitude: longitude))
        }
        #expect(number(5, 175) == 0)
        #expect(number(5, 180) == 1)
        #expect(number(-5, -175) == 33)
        #expect(number(5, -160) == nil)
        #expect(number(40, 175) == nil)
    }
}

import Randomness
import Testing

@testable import PointsOfInterestAPI

@Suite("Coarsening")
struct CoarseningTests {
    /// The texts of what is sent.
    private func text(_ numbers: Double...) -> String {
        var query = QueryWriter()
        query.add("n", numbers)
        return String(query.text.dropFirst(2)).replacing("%2C", with: ",")
    }

    @Test(
        "A coordinate becomes the nearest one with so many decimals",
        arguments: [
            (37.329_313_57, -121.889_386_42, 5, "37.32931,-121.88939"),
            (37.3293, -121.8893, 5, "37.3293,-121.8893"),
            (37.329_313_57, -121.889_386_42, 0, "37,-122"), (37.329_313_57, -121.889_386_42, -3, "37,-122"),
            (0.1 + 0.2, -0.1 - 0.2, 13, "0.3,-0.3"),
            (0.1 + 0.2, 1.0 / 3, 14, "0.30000000000000004,0.3333333333333333"),
            (89.999_996, 179.999_996, 5, "90,180"), (-89.999_996, -179.999_996, 5, "-90,-180"),
            (90, 180, 5, "90,180"), (-90, -180, 13, "-90,-180"),
            (90.0.nextDown, (-180.0).nextUp, 13, "90,-180"),
            (-0.000_001, -0.0, 5, "0,0"), (0.000_005_1, -0.000_005_1, 5, "0.00001,-0.00001"),
        ] as [(Double, Double, Int, String)])
    func roundsCoordinates(latitude: Double, longitude: Double, decimals: Int, expected: String) throws {
        let rounded = try Coordinate(latitude: latitude, longitude: longitude).rounded(toDecimals: decimals)
        #expect(text(rounded.latitude, rounded.longitude) == expected)
        #expect(rounded.latitude.sign == .plus || rounded.latitude != 0)
    }

    @Test(
        "A box becomes the smallest one around it with so many decimals",
        arguments: [
            ([10.000_001, -1.000_001, 10.000_011, 1.000_001], 5, "10,-1.00001,10.00002,1.00001"),
            ([-122.35, 37.2, -121.5, 37.3293], 5, "-122.35,37.2,-121.5,37.3293"),
            ([-122.35, 37.2, -121.5, 37.3293], 0, "-123,37,-121,38"),
            ([-180, -90, 180, 90], 5, "-180,-90,180,90"),
            ([-179.999_996, -89.999_996, 179.999_996, 89.999_996], 5, "-180,-90,180,90"),
            ([179.5, -1, -179.5, 1], 0, "179,-1,-179,1"), ([180, 0, -180, 0], 3, "180,0,-180,0"),
            ([170.000_001, 0, -170.000_001, 0], 5, "170,0,-170,0"),
            // All but a sliver of a metre.
            ([10.000_001, 0, 10, 0], 5, "-180,0,180,0"), ([10.000_02, 0, 10, 0], 5, "10.00002,0,10,0"),
            ([-0.000_001, -0.000_001, 0.000_001, 0.000_001], 5, "-0.00001,-0.00001,0.00001,0.00001"),
            (
                [0.000_001, 0.000_001, 0.1 + 0.2, 1.0 / 3], 14,
                "0.000001,0.000001,0.30000000000000004,0.3333333333333333"
            ),
        ] as [([Double], Int, String)])
    func expandsBoxes(edges: [Double], decimals: Int, expected: String) throws {
        let box = try #require(BoundingBox(west: edges[0], south: edges[1], east: edges[2], north: edges[3]))
        let larger = box.expanded(toDecimals: decimals)
        #expect(text(larger.west, larger.south, larger.east, larger.north) == expected)
    }

    @Test("A rounded coordinate is in range, at most half a unit away, and stays the same when rounded again")
    func anyCoordinate() throws {
        var random = SeededGenerator()
        for decimals in 0...14 {
            let unit = (0..<decimals).reduce(1.0) { unit, _ in unit / 10 }
            for _ in 0..<500 {
                let coordinate = try Coordinate(
                    latitude: .random(in: -90...90, using: &random),
                    longitude: .random(in: -180...180, using: &random))
                let rounded = coordinate.rounded(toDecimals: decimals)
                _ = try Coordinate(latitude: rounded.latitude, longitude: rounded.longitude)
                // A little more, for the rounding of the test itself.
                #expect(abs(rounded.latitude - coordinate.latitude) <= unit / 2 + 180.0.ulp)
                #expect(abs(rounded.longitude - coordinate.longitude) <= unit / 2 + 180.0.ulp)
                #expect(rounded.rounded(toDecimals: decimals) == rounded)
                guard decimals < 14 else { continue }
                for number in text(rounded.latitude, rounded.longitude).split(separator: ",") {
                    #expect(number.split(separator: ".").dropFirst().first?.count ?? 0 <= decimals)
                }
            }
        }
    }

    @Test(
        "An expanded box contains the box, is less than a unit larger, and stays the same when expanded again"
    )
    func anyBox() throws {
        var random = SeededGenerator()
        for decimals in 0...14 {
            let unit = (0..<decimals).reduce(1.0) { unit, _ in unit / 10 } + 180.0.ulp
            for _ in 0..<500 {
                let latitudes = [
                    Double.random(in: -90...90, using: &random), .random(in: -90...90, using: &random),
                ]
                let box = try #require(
                    BoundingBox(
                        west: .random(in: -180...180, using: &random), south: latitudes.min() ?? 0,
                        east: .random(in: -180...180, using: &random), north: latitudes.max() ?? 0))
                let larger = box.expanded(toDecimals: decimals)
                #expect(larger.south <= box.south && larger.south > box.south - unit)
                #expect(larger.north >= box.north && larger.north < box.north + unit)
                #expect(larger.expanded(toDecimals: decimals) == larger)
                // Nearly the whole circle, see the examples.
                if box.crossesAntimeridian, !larger.crossesAntimeridian {
                    #expect(larger.west == -180 && larger.east == 180 && box.west - box.east < 2 * unit)
                    continue
                }
                #expect(larger.west <= box.west && larger.west > box.west - unit)
                #expect(larger.east >= box.east && larger.east < box.east + unit)
                #expect(larger.crossesAntimeridian == box.crossesAntimeridian)
            }
        }
    }
}

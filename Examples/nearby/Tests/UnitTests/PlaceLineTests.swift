import NearbyKit
import PointsOfInterestTesting
import Testing

@Suite("A place's line")
struct PlaceLineTests {
    @Test(
        "A line has the distance in a column, in the unit that suits it",
        arguments: [
            (0.0, "     0 m"), (55.4, "    55 m"), (999.4, "   999 m"), (999.6, "  1.0 km"),
            (123_456, "123.5 km"),
            (20_003_931.5, "20003.9 km"),
        ])
    func hasItsDistance(meters: Double, column: String) {
        #expect(
            PlaceLine.text(for: .fixture(name: "A", category: "park", distance: meters)) == column
                + "  A (park)")
    }

    @Test("A line without a distance has an empty column")
    func mayHaveNoDistance() {
        #expect(
            PlaceLine.text(for: .fixture(name: "A", category: "park", distance: nil)) == "          A (park)")
    }
}

import NearbyKit
import PointsOfInterestClient
import PointsOfInterestTesting
import Testing

@Suite("A command")
struct CommandTests {
    @Test("A command without arguments lists places around San José")
    func isAListByDefault() throws {
        let command = try Command(arguments: [])
        #expect(command.action == .list)
        #expect(command.position.coordinate != nil)
        #expect(command.request == NearbyPlacesRequest(center: nil))
    }

    @Test("A command has the options of its arguments, in any order")
    func readsOptions() throws {
        let command = try Command(arguments: [
            "--count", "3", "--at", "-1.5,2", "--watch", "--limit", "5", "--category", "park", "--accuracy",
            "250",
            "--category", "museum", "-POI_BASE_URL", "http://h",
        ])
        #expect(command.action == .watch(count: 3))
        #expect(command.position == LocationFix(latitude: -1.5, longitude: 2, horizontalAccuracy: 250))
        #expect(command.request.limit == 5)
        #expect(command.request.categories == ["park", "museum"])
        #expect(try Command(arguments: ["--check"]).action == .check)
    }

    @Test(
        "A command with an unknown option or a wrong value is refused",
        arguments: [
            ["--nearest"], ["list"], ["--at"], ["--at", "1"], ["--at", "1,2,3"], ["--at", "91,0"],
            ["--at", "a,b"],
            ["--at", "nan,0"], ["--limit"], ["--limit", "five"], ["--count", "1.5"], ["-POI_BASE_URL"],
        ])
    func refusesOthers(arguments: [String]) {
        let error = #expect(throws: Command.UsageError.self) { try Command(arguments: arguments) }
        #expect(error?.message.isEmpty == false)
    }
}

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

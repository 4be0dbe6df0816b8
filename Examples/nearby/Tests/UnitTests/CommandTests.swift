import NearbyKit
import PointsOfInterestClient
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

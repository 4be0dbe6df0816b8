import Foundation
import NearbyKit
import PointsOfInterestTesting
import Testing

/// Each part of the program's world is a mock: no network, no device, no time.
@Suite("The program", .timeLimit(.minutes(1)))
@MainActor
struct NearbyTests {
    private let output = Output()
    private let scheduler = MockTimerScheduler()

    private func program(
        _ finder: MockPlaceFinder, at fetcher: MockLocationFetcher = MockLocationFetcher()
    ) -> Nearby {
        let location = CurrentLocationProvider(
            locationFetcher: fetcher, notificationCenter: NotificationCenter(), placeFinder: finder,
            timerScheduler: MockTimerScheduler(firesAtOnce: false))
        return Nearby(
            list: PointsOfInterestList(
                placeFinder: finder, locationSource: location, notificationCenter: NotificationCenter()),
            featured: FeaturedPlaceManager(
                placeFinder: finder, locationSource: location, timerScheduler: scheduler),
            location: location, tracking: .mock()
        ) { [output] in output.lines.append($0) }
    }

    @Test("The program lists places, nearest first")
    func lists() async {
        #expect(await program(MockPlaceFinder(.fixtures(2))).run(.list) == .done)
        #expect(output.lines == ["   100 m  Place 1 (museum)", "   200 m  Place 2 (museum)"])
    }

    @Test("The program says that there is nothing nearby")
    func listsNothing() async {
        #expect(await program(MockPlaceFinder([])).run(.list) == .done)
        #expect(output.lines == ["There is nothing nearby."])
    }

    @Test("The program says why there is no list")
    func failsToList() async {
        let finder = MockPlaceFinder { _ in throw RequestError.unexpectedStatus(502) }
        #expect(await program(finder).run(.list) == .failed)
        #expect(output.lines == ["The service is not available at the moment. Try again later."])
    }

    @Test("The program features one place after another, ten seconds each")
    func watches() async {
        #expect(await program(MockPlaceFinder(.fixtures(3, featured: true))).run(.watch(count: 1)) == .done)
        #expect(output.lines == ["★    200 m  Place 2 (museum)"])
        #expect(scheduler.delays == [10])
        #expect(scheduler.timers.map(\.isValid) == [false])
    }

    @Test("The program says that nothing is featured")
    func watchesNothing() async {
        #expect(await program(MockPlaceFinder([])).run(.watch(count: 1)) == .done)
        #expect(output.lines == ["Nothing is featured nearby."])
    }

    @Test("The program features nothing if it may not know the location, or if the service fails")
    func failsToWatch() async {
        let refused = MockLocationFetcher(locationAuthorization: .denied)
        #expect(await program(MockPlaceFinder([]), at: refused).run(.watch(count: 1)) == .failed)
        let finder = MockPlaceFinder { _ in throw RequestError.notHTTP }
        #expect(await program(finder).run(.watch(count: 1)) == .failed)
        #expect(output.lines.count == 2)
        #expect(scheduler.delays.isEmpty)
    }

    @Test(
        "The program prints whether it is at a point of interest, and returns the outcome",
        arguments: [
            (
                [PointOfInterest.fixture()], LocationFix.fixture(), Nearby.Outcome.done,
                "You are at The Tech Interactive."
            ),
            ([], .fixture(), .elsewhere, "This is no point of interest."),
            (
                [.fixture()], .fixture(horizontalAccuracy: 501), .failed,
                "Your position is not known well enough."
            ),
        ])
    func checks(
        places: [PointOfInterest], fix: LocationFix, outcome: Nearby.Outcome, line: String
    ) async {
        let program = program(MockPlaceFinder(places), at: MockLocationFetcher { .fix(fix) })
        #expect(await program.run(.check) == outcome)
        #expect(output.lines == [line])
    }
}

@MainActor
private final class Output {
    var lines: [String] = []
}

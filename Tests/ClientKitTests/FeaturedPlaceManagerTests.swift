import Foundation
import PointsOfInterestTesting
import Testing

@Suite("The featured place", .timeLimit(.minutes(1)))
@MainActor
struct FeaturedPlaceManagerTests {
    private let scheduler = MockTimerScheduler()
    private let location = FixedLocation()

    private func manager(_ finder: MockPlaceFinder) -> FeaturedPlaceManager {
        FeaturedPlaceManager(placeFinder: finder, locationSource: location, timerScheduler: scheduler)
    }

    private func manager(showing places: [PointOfInterest]) async -> FeaturedPlaceManager {
        let manager = manager(MockPlaceFinder(places))
        await manager.load()
        return manager
    }

    @Test("The next place is featured after ten seconds")
    func schedulesTheNextPlace() async {
        let manager = await manager(showing: .fixtures(3))
        let place = manager.currentPlace
        manager.scheduleNextPlace()
        #expect(scheduler.delays == [10])
        #expect(manager.currentPlace != place)
        #expect(manager.currentPlace?.id == 2)
    }

    @Test("The next place isn't featured before ten seconds are over")
    func waitsForTheFirstTime() async throws {
        let manager = await manager(showing: .fixtures(3))
        scheduler.firesAtOnce = false
        let before = Date()
        manager.scheduleNextPlace()
        let after = Date()
        let timer = try #require(scheduler.timers.first)
        #expect((before + 10...after + 10).contains(timer.fireDate))
    }

    @Test("A place is featured every ten seconds, and the first one follows the last")
    func goesRound() async {
        let manager = await manager(showing: .fixtures(3))
        scheduler.firesAtOnce = false
        manager.scheduleNextPlace()
        var shown = [manager.currentPlace?.id]
        for _ in 0..<4 {
            scheduler.fire()
            shown.append(manager.currentPlace?.id)
        }
        #expect(shown == [1, 2, 3, 1, 2])
        #expect(scheduler.delays == [10])
    }

    @Test("Scheduling twice doesn't make places change faster")
    func reschedules() async {
        let manager = await manager(showing: .fixtures(3))
        scheduler.firesAtOnce = false
        manager.scheduleNextPlace()
        manager.scheduleNextPlace()
        #expect(scheduler.timers.map(\.isValid) == [false, true])
        scheduler.fire()
        #expect(manager.currentPlace?.id == 2)
    }

    @Test("The place stays after stop(), and changes again after it is scheduled again")
    func stops() async {
        let manager = await manager(showing: .fixtures(3))
        scheduler.firesAtOnce = false
        manager.scheduleNextPlace()
        manager.stop()
        scheduler.fire()
        #expect(manager.currentPlace?.id == 1)
        manager.scheduleNextPlace()
        scheduler.fire()
        #expect(manager.currentPlace?.id == 2)
    }

    @Test("There is no current place where nothing was found, and a single one stays")
    func hasNoNext() async {
        for places in [[], [PointOfInterest].fixtures(1)] {
            let manager = await manager(showing: places)
            manager.showNextPlace()
            #expect(manager.currentPlace?.id == places.first?.id)
            #expect(manager.phase == .loaded)
        }
    }

    @Test("A manager is released with its timer")
    func releasesItsManager() async {
        scheduler.firesAtOnce = false
        weak var released: FeaturedPlaceManager?
        do {
            let manager = await manager(showing: .fixtures(2))
            manager.scheduleNextPlace()
            released = manager
        }
        #expect(released == nil)
        scheduler.fire()
        #expect(scheduler.timers.map(\.isValid) == [false])
    }

    @Test("updates() yields the current place and then each change once")
    func tellsChanges() async {
        var manager: FeaturedPlaceManager? = await manager(showing: .fixtures(2))
        let updates = manager?.updates()
        manager?.showNextPlace()
        await manager?.load()
        manager?.showNextPlace()
        manager = nil
        var states: [FeaturedPlaceManager.State] = []
        if let updates { for await state in updates { states.append(state) } }
        #expect(states.map { $0.currentPlace?.id } == [1, 2, 2, 2, 1])
        #expect(states.map(\.phase) == [.loaded, .loaded, .loading, .loaded, .loaded])
    }
}

import Combine
import PointsOfInterestTesting
import Testing

@Suite("An observable object", .timeLimit(.minutes(1)))
@MainActor
struct ObservableObjectTests {
    private final class Count {
        var value = 0
    }

    @Test("A list announces each change before it happens")
    func listIsObservable() async {
        let list = AppEnvironment.mock().makeList()
        let count = Count()
        list.objectWillChange.handleSend = { count.value += 1 }
        await list.load()
        #expect(count.value == 2)
    }

    @Test("A featured place manager announces each change before it happens")
    func featuredPlaceIsObservable() async {
        let environment = AppEnvironment.mock()
        let manager = environment.makeFeaturedPlaceManager()
        let count = Count()
        manager.objectWillChange.handleSend = { count.value += 1 }
        _ = await environment.locationProvider.checkCurrentLocation()
        await manager.refresh()
        #expect(count.value == 1)
        await manager.refresh()
        #expect(count.value == 1)
        manager.showNextPlace()
        #expect(count.value == 2)
    }
}

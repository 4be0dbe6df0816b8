import Combine
import Foundation
@testable import PointsOfInterestClient
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

    @Test("Every observable property of every model is announced once, before it changes")
    func announcesEverything() {
        check(.list())
        check(.featured())
        check(.map())
    }

    private final class Notes<State> {
        var states: [State] = []
    }

    /// `ObservationTests` asserts that these are all properties.
    private func check<State>(_ observed: ObservedModel<State>) {
        let model = observed.model
        for property in observed.properties {
            let before = model.state
            let notes = Notes<State>()
            model.objectWillChange.handleSend = { notes.states.append(model.state) }
            property.change(&model.state)
            #expect(notes.states == [before], "\(property.name)")
            #expect(model.state != before)
            model.state = model.state
            #expect(notes.states.count == 1, "a value that is set again")
        }
    }

    @Test("A failed refresh of the featured places is announced")
    func announcesFailures() async {
        let environment = AppEnvironment.mock { _ in throw URLError(.notConnectedToInternet) }
        let manager = environment.makeFeaturedPlaceManager()
        let count = Count()
        manager.objectWillChange.handleSend = { count.value += 1 }
        await manager.refresh()
        #expect(manager.lastError != nil)
        #expect(count.value == 1)
    }
}

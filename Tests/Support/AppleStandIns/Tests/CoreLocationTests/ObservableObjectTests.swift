import Combine
import Foundation
import MapKit
import PointsOfInterestTesting
import Testing

@testable import PointsOfInterestClient

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
        // Loading, then the places with the phase.
        await manager.load()
        #expect(count.value == 2)
        manager.showNextPlace()
        #expect(count.value == 3)
        manager.showNextPlace()
        #expect(count.value == 4)
    }

    @Test("Every observable property of every model is announced once, before it changes")
    func announcesEverything() {
        check(.list())
        check(.featured())
        check(.map())
        check(.favorites())
        check(.categories())
        check(.search())
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

    @Test("A failed load of the featured places is announced")
    func announcesFailures() async {
        let environment = AppEnvironment.mock { _ in throw URLError(.notConnectedToInternet) }
        let manager = environment.makeFeaturedPlaceManager()
        let count = Count()
        manager.objectWillChange.handleSend = { count.value += 1 }
        await manager.load()
        guard case .failed = manager.phase else {
            Issue.record("the phase is \(manager.phase)")
            return
        }
        // Loading, failed.
        #expect(count.value == 2)
    }
}

@Suite("MapKit's region", .timeLimit(.minutes(1)))
@MainActor
struct MapKitRegionTests {
    private func region(_ latitude: Double, _ longitude: Double, span: Double = 2) -> MKCoordinateRegion {
        MKCoordinateRegion(
            center: CLLocationCoordinate2D(latitude: latitude, longitude: longitude),
            span: MKCoordinateSpan(latitudeDelta: span, longitudeDelta: 2 * span))
    }

    @Test("A region becomes a box")
    func hasABox() {
        #expect(BoundingBox(region(10, 20)) == BoundingBox(west: 18, south: 9, east: 22, north: 11))
        #expect(BoundingBox(region(0, 179)) == BoundingBox(west: 177, south: -1, east: -179, north: 1))
    }

    @Test("A region may have a centre beyond the antimeridian")
    func mayBeBeyond() {
        #expect(BoundingBox(region(0, 181)) == BoundingBox(west: 179, south: -1, east: -177, north: 1))
        #expect(BoundingBox(region(0, -190)) == BoundingBox(west: 168, south: -1, east: 172, north: 1))
    }

    @Test("A region that isn't on Earth has no box")
    func mayBeInvalid() {
        #expect(BoundingBox(region(91, 0)) == nil)
        #expect(BoundingBox(region(0, .nan)) == nil)
        #expect(BoundingBox(region(0, .infinity)) == nil)
        #expect(BoundingBox(region(0, 0, span: -1)) == nil)
    }

    @Test("A map shows a region, and refuses one that isn't on Earth")
    func isShown() async {
        let finder = MockPlaceFinder(.fixtures(2))
        let map = PlacesMap(placeFinder: finder)
        await map.load(region(10, 20))
        #expect(map.places == .fixtures(2))
        #expect(finder.requests.map(\.box) == [BoundingBox(west: 18, south: 9, east: 22, north: 11)])
        await map.load(region(91, 0))
        #expect(map.phase == .failed(.request(.invalidCoordinate)))
        #expect(finder.requests.count == 1)
        #expect(map.places == .fixtures(2))
    }
}

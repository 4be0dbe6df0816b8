import Foundation
import PlacesCore
import PointsOfInterestTesting
import SwiftUI
import Testing

@testable import Places

/// What the screens of the example app say, in their order. The stand-ins draw texts alone.
@Suite("The screens", .timeLimit(.minutes(1)))
@MainActor
struct ScreenTests {
    @Test("The list shows no places before it is loaded, then the places and their distances")
    func list() async {
        let session = PlacesSession.preview()
        #expect(Drawing.texts(of: ListScreen(session: session)) == ["No featured places nearby"])
        await session.perform(.loadList)
        let texts = Drawing.texts(of: ListScreen(session: session))
        #expect(texts.prefix(3) == ["San Jose McEnery Convention Center", "conference_centre", "55 m"])
        #expect(!texts.contains("No more places"))
    }

    @Test("The list says why there are no places")
    func listWithoutANetwork() async {
        let session = PlacesSession.offline()
        await session.perform(.loadList)
        guard case .failed(let reason) = ListDisplay(session.list.state).content else {
            Issue.record("the list shows \(ListDisplay(session.list.state).content)")
            return
        }
        #expect(Drawing.texts(of: ListScreen(session: session)) == [reason, "No featured places nearby"])
    }

    @Test(
        "The rows of a list end with the footer of its display",
        arguments: [
            (ListDisplay(phase: .loaded, places: []), ["Nothing"]),
            (
                ListDisplay(phase: .loaded, places: .fixtures(1)),
                ["Place 1", "museum", "100 m", "No more places"]
            ),
            (ListDisplay(phase: .loadingMore, places: .fixtures(1)), ["Place 1", "museum", "100 m"]),
            (
                ListDisplay(phase: .failedMore(.location(.timedOut)), places: .fixtures(1)),
                ["Place 1", "museum", "100 m", LocationError.timedOut.localizedDescription, "Try again"]
            ),
            (
                ListDisplay(phase: .failed(.location(.timedOut)), places: .fixtures(1)),
                [LocationError.timedOut.localizedDescription, "Place 1", "museum", "100 m"]
            ),
        ])
    func rows(display: ListDisplay, texts: [String]) {
        let rows = PlaceRows(display: display, nothing: "Nothing", loadMore: {})
        #expect(Drawing.texts(of: rows) == texts)
    }

    @Test("The screen of a place says what is known of it")
    func facts() {
        let place = PointOfInterest.fixture(
            address: "201 S Market St", website: "https://www.thetech.org",
            source: PointOfInterest.Source(dataset: "seed", id: "1", license: "CC0-1.0"))
        let properties = PlaceProperties(openingHours: "Mo-Su 10:00-17:00", phone: "+1 408 294 8324")
        let known = ["The Tech Interactive", "museum", "267 m", "201 S Market St"]
        let rest = ["Website", "Source: seed, CC0-1.0"]
        #expect(
            Drawing.texts(of: PlaceFacts(place: place, properties: properties))
                == known + ["Opening hours: Mo-Su 10:00-17:00", "Phone: +1 408 294 8324"] + rest)
        #expect(
            Drawing.texts(of: PlaceFacts(place: place, properties: PlaceProperties())) == known + rest)
    }

    @Test("The strip says which place is featured")
    func strip() async {
        let session = PlacesSession.preview()
        await session.featured.load()
        #expect(
            Drawing.texts(of: FeaturedStrip(session: session)) == ["San Jose McEnery Convention Center"])
    }

    @Test("The map names its places")
    func map() async throws {
        let session = PlacesSession.preview()
        let box = try #require(BoundingBox(west: -122, south: 37, east: -121, north: 38))
        await session.perform(.showOnMap(box))
        let texts = Drawing.texts(of: MapScreen(session: session, path: .constant([])))
        #expect(texts.first == "San Jose McEnery Convention Center")
        #expect(texts.last == "There are more places here. Zoom in to see them.")
    }

    @Test("Every tab is there, with its screen")
    func tabs() {
        let root = RootView(session: .preview(), useService: { _ in })
        let texts = Drawing.texts(of: root)
        #expect(
            ["Nearby", "Map", "Search", "Settings", "The app uses https://service.test."]
                .filter { !texts.contains($0) } == [])
    }

    @Test("Every preview can be drawn")
    func previews() {
        for texts in [
            Drawing.texts(of: RootView_Previews.previews), Drawing.texts(of: ListScreen_Previews.previews),
            Drawing.texts(of: PlaceRows_Previews.previews),
            Drawing.texts(of: FeaturedStrip_Previews.previews),
            Drawing.texts(of: SettingsScreen_Previews.previews),
        ] {
            #expect(!texts.isEmpty)
        }
        // These wait for something before they say anything.
        _ = Drawing.texts(of: MapScreen_Previews.previews)
        _ = Drawing.texts(of: DetailScreen_Previews.previews)
        _ = Drawing.texts(of: SearchScreen_Previews.previews)
    }
}

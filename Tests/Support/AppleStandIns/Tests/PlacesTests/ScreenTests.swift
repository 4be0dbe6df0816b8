import Foundation
import PlacesCore
import PointsOfInterestEditing
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
        let window = PlacesWindow.preview()
        #expect(Drawing.texts(of: ListScreen(window: window)) == [])
        await window.perform(.loadList)
        let texts = Drawing.texts(of: ListScreen(window: window))
        #expect(texts.prefix(3) == ["San Jose McEnery Convention Center", "conference_centre", "55 m"])
        #expect(!texts.contains("No more places"))
    }

    @Test("The list says why there are no places")
    func listWithoutANetwork() async {
        let window = PlacesWindow.offline()
        await window.perform(.loadList)
        guard case .failed(let reason) = Display(window.list.state).content else {
            Issue.record("the list shows \(Display(window.list.state).content)")
            return
        }
        #expect(Drawing.texts(of: ListScreen(window: window)) == [reason, "Try again"])
    }

    @Test(
        "The rows of a list end with the footer of its display",
        arguments: [
            (LoadPhase.loaded, 0, ["Nothing"]),
            (.loaded, 1, ["Place 1", "museum", "100 m", "No more places"]),
            (.loadingMore, 1, ["Place 1", "museum", "100 m"]),
            (
                .failedMore(.location(.timedOut)), 1,
                ["Place 1", "museum", "100 m", LocationError.timedOut.localizedDescription, "Try again"]
            ),
            (
                .failed(.location(.timedOut)), 1,
                [LocationError.timedOut.localizedDescription, "Place 1", "museum", "100 m"]
            ),
            (.failed(.location(.timedOut)), 0, [LocationError.timedOut.localizedDescription, "Try again"]),
        ])
    func rows(phase: LoadPhase, count: Int, texts: [String]) {
        let display = Display<[PointOfInterest]>(
            count == 0 ? nil : .fixtures(count), phase: phase, hasMore: false, nothing: "Nothing")
        let rows = PlaceRows(display: display, load: {}, loadMore: {}) { PlaceRow(place: $0) }
        #expect(Drawing.texts(of: rows) == texts)
    }

    @Test("A result is drawn with what was searched for as a part of its own")
    func result() async throws {
        let window = PlacesWindow.preview()
        window.search.text = "san"
        await window.perform(.search)
        let result = try #require(window.search.results.first)
        #expect(
            Drawing.texts(of: ResultRow(result: result)) == [
                "San", " Jose McEnery Convention Center", "conference_centre", "55 m",
            ])
        let screen = Drawing.texts(of: SearchScreen(window: window, text: .constant("")))
        #expect(screen.first == "San" && screen.suffix(2) == ["Nearby", "Everywhere"])
    }

    @Test("The favourites say that there are none, then which")
    func favorites() async {
        let window = PlacesWindow.preview()
        for place in window.session.favorites.places { window.session.change(.remove(id: place.id)) }
        await window.perform(.loadFavorites)
        #expect(Drawing.texts(of: FavoritesScreen(window: window)) == ["There are no favourites yet."])
        window.session.change(.toggle(.fixture()))
        #expect(
            Drawing.texts(of: FavoritesScreen(window: window)) == ["The Tech Interactive", "museum", "267 m"])
        #expect(Drawing.texts(of: DetailScreen(window: window, id: 1)).last == "Remove from favourites")
        window.session.change(.toggle(.fixture()))
        #expect(window.session.favorites.ids.isEmpty)
    }

    @Test("The screen of a place says what is known of it")
    func facts() {
        func texts(_ properties: JSONValue.Object?) -> [String] {
            let place = PointOfInterest.fixture(
                address: "201 S Market St", website: "https://www.thetech.org",
                source: PointOfInterest.Source(dataset: "seed", id: "1", license: "CC0-1.0"),
                properties: properties)
            return Drawing.texts(of: PlaceFacts(details: PlaceDetails(place)))
        }
        let known = ["The Tech Interactive", "museum", "267 m", "201 S Market St"]
        let rest = ["Website", "Source: seed, CC0-1.0"]
        #expect(texts(nil) == known + rest)
        #expect(
            texts(["opening_hours": "Mo-Su 10:00-17:00", "phone": "+1 408 294 8324"])
                == known + ["Opening hours: Mo-Su 10:00-17:00", "Phone: +1 408 294 8324"] + rest)
    }

    @Test("The strip says which place is featured")
    func strip() async {
        let window = PlacesWindow.preview()
        await window.featured.load()
        #expect(
            Drawing.texts(of: FeaturedStrip(window: window)) == ["San Jose McEnery Convention Center"])
    }

    @Test("The map counts the places of its clusters, and names the others")
    func map() async throws {
        let window = PlacesWindow.preview()
        let box = try #require(BoundingBox(west: -122, south: 37, east: -121, north: 38))
        await window.perform(.showOnMap(box, width: 375))
        let texts = Drawing.texts(of: MapScreen(window: window, path: .constant([])))
        #expect(texts.prefix(2) == ["2", "2 places"])
        #expect(texts.contains("Guadalupe River Park"))
    }

    @Test("The screen of an edit has the fields of the place, and says why one can't be edited")
    func edit() async {
        let edit = await PlaceEditModel(id: 1, editor: .preview()).after(.load)
        let texts = Drawing.texts(of: EditScreen(model: edit, onDone: {}))
        #expect(texts.prefix(3) == ["Name", "Category", "Address"])
        #expect(texts.suffix(3) == ["Remove this place", "Cancel", "Save"])
        let offline = PlaceEditor(service: PlacesWindow.offline().session.environment.service)
        let failed = EditScreen(model: await PlaceEditModel(id: 1, editor: offline).after(.load), onDone: {})
        #expect(Drawing.texts(of: failed) == [ErrorText.offline.english, "Try again", "Cancel"])
    }

    @Test("The screen of a report has each reason, and how long its text may be")
    func report() {
        let texts = Drawing.texts(of: ReportScreen_Previews.previews)
        #expect(PlaceReport.Reason.allCases.map(Wording.reason).allSatisfy(texts.contains))
        #expect(texts.contains("500 characters left") && texts.suffix(2) == ["Cancel", "Send"])
    }

    @Test("Every tab is there, with its screen")
    func tabs() {
        let root = RootView(
            session: PlacesWindow.preview().session, useService: { _ in }, useEditorKey: { _ in })
        let texts = Drawing.texts(of: root)
        #expect(
            [
                "Nearby", "Map", "Search", "Favourites", "Settings", "Open another window",
                "The app uses https://service.test.",
            ]
            .filter { !texts.contains($0) } == [])
    }

    @Test("Every preview can be drawn")
    func previews() {
        for texts in [
            Drawing.texts(of: RootView_Previews.previews), Drawing.texts(of: PlaceRows_Previews.previews),
            Drawing.texts(of: SettingsScreen_Previews.previews),
        ] {
            #expect(!texts.isEmpty)
        }
        // These wait for something before they say anything.
        _ = Drawing.texts(of: ListScreen_Previews.previews)
        _ = Drawing.texts(of: FeaturedStrip_Previews.previews)
        _ = Drawing.texts(of: FavoritesScreen_Previews.previews)
        _ = Drawing.texts(of: MapScreen_Previews.previews)
        _ = Drawing.texts(of: DetailScreen_Previews.previews)
        _ = Drawing.texts(of: SearchScreen_Previews.previews)
        _ = Drawing.texts(of: EditScreen_Previews.previews)
    }
}

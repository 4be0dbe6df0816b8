import EditingAPI
import Foundation
import Locking
import PointsOfInterestClient
import PointsOfInterestTesting
import Testing

@testable import PointsOfInterestEditing
@testable import PointsOfInterestHTTP

@Suite("An editor's own edits in lists and details", .timeLimit(.minutes(1)))
struct OwnEditsTests {
    private let standIn = StandInService([.test(), .test(id: 84, version: 8, .survivor)])
    private let store = ResponseStore()
    private let time = Lock(Date())
    private let editor: PlaceEditor
    private let service: PointsOfInterestService

    init() {
        service = standIn.service(responseStore: store)
        editor = PlaceEditor(service: service, now: { [time] in time.withLock { $0 } })
        // As a server does that never sees an edit.
        standIn.read { request in
            let all = [
                PointOfInterest(.test(), distance: 10),
                PointOfInterest(.test(id: 84, version: 8, .survivor), distance: 20),
            ]
            switch request.url?.path {
            case "/locations": return .places(all)
            case "/locations/12": return .place(PointOfInterest(.test(), isOfOnePlace: true))
            case "/locations/84":
                return .place(PointOfInterest(.test(id: 84, version: 8, .survivor), isOfOnePlace: true))
            default: return .problem(Problem(.notFound))
            }
        }
    }

    private var finder: any PlaceFinder { editor.showingOwnEdits() }

    private func list() async throws -> [PointOfInterest] {
        try await finder.places(NearbyPlacesRequest(center: Coordinate(latitude: 52.5, longitude: 13.4)))
    }

    private func pass(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }

    @Test("Models know of the regions of the finder whose places show the edits")
    func hasRegions() {
        #expect(editor.showingOwnEdits(OnePageFinder(pages: [], hasRegions: true)).hasRegions)
        #expect(!finder.hasRegions)
    }

    @Test("A correction shows in a list and in the details of a server that doesn't know it")
    func showsCorrections() async throws {
        let record = try await editor.correct(.test()) { draft in
            draft.name = "Café"
            draft.category = "bar"
            draft.address = nil
            draft.featured = true
            draft.properties["phone"] = "2"
        }
        let place = try #require(try await list().first)
        #expect(place.name == "Café")
        #expect(place.category == "bar")
        #expect(place.address == nil)
        #expect(place.featured)
        #expect(place.distance == 10)
        #expect(place.properties == nil)
        let details = try await finder.place(id: 12)
        #expect(details == PointOfInterest(record, isOfOnePlace: true))
        #expect(details.version == record.version)
    }

    @Test("Several edits of a place show one after another")
    func showsSeveral() async throws {
        let first = try await editor.correct(.test()) { $0.name = "Café" }
        let second = try await editor.correct(first) { $0.name = "Café Ä" }
        #expect(try await list().first?.name == "Café Ä")
        #expect(try await finder.place(id: 12).version == second.version)
        try await editor.correct(second) { $0.name = "Cafe" }
        #expect(try await list().first?.name == "Cafe")
    }

    @Test("A place that has moved has its new position, and no distance")
    func showsPositions() async throws {
        try await editor.correct(.test()) { $0.longitude = 13.5 }
        let place = try #require(try await list().first)
        #expect([place.latitude, place.longitude] == [52.5, 13.5])
        #expect(place.distance == nil)
    }

    @Test("A name in the person's language shows, as the service looks it up")
    func showsNamesInLanguages() async throws {
        try await editor.correct(.test()) { draft in
            draft.names = ["de": "Kaffee", "en": "Coffee"]
        }
        var request = NearbyPlacesRequest(ids: [12])
        request.languages = ["es", "en-GB"]
        let place = try await finder.places(request).first
        #expect(place?.name == "Coffee")
        #expect(place?.language == "en")
    }

    @Test("A removed place is in no list, and its details are gone")
    func hidesRemoved() async throws {
        try await editor.remove(.test())
        #expect(try await list().map(\.id) == [84])
        #expect(try await finder.places(ids: [12, 84]).map(\.id) == [84])
        await #expect(throws: RequestError.problem(Problem(.gone))) { try await finder.place(id: 12) }
    }

    @Test("A place that is closed for good is found by its id only")
    func hidesClosed() async throws {
        try await editor.close(.test())
        #expect(try await list().map(\.id) == [84])
        let places = try await finder.places(ids: [12])
        #expect(places.first?.operatingStatus == .permanentlyClosed)
        #expect(try await finder.place(id: 12).operatingStatus == .permanentlyClosed)
    }

    @Test("A merged place is the one that it was merged into, with what that one got")
    func showsMerged() async throws {
        let survivor = try await editor.merge(.test(), into: 84)
        #expect(survivor.draft.address == "Platz 1")
        let places = try await list()
        #expect(places.map(\.id) == [84])
        #expect(places.first?.address == "Platz 1")
        #expect(places.first?.name == "Kiosk")
        #expect(try await finder.place(id: 12).id == 84)
    }

    @Test("A new place is found by its id at once, and one that was brought back")
    func findsNew() async throws {
        let record = try await editor.create(.test())
        #expect(try await finder.place(id: record.id) == PointOfInterest(record, isOfOnePlace: true))
        let lists = try await finder.places(ids: [record.id], properties: ["phone"])
        #expect(lists.last?.id == record.id)
        #expect(lists.last?.properties == ["phone": "1"])

        try await editor.remove(.test())
        let removal = PlaceVersion(version: 7, changedAt: "", who: "", isRemoval: true, changes: [:])
        try await editor.restore(id: 12, removedBy: removal)
        #expect(try await list().map(\.id) == [12, 84])
    }

    @Test("What a server shows that is neither old nor new is somebody else's, and stays")
    func leavesOthersEdits() async throws {
        try await editor.correct(.test()) { draft in
            draft.name = "Café"
            draft.category = "bar"
            draft.address = "Platz 2"
        }
        standIn.read { request in
            var draft = PlaceDraft.test()
            draft.name = "Deren"
            draft.category = "hotel"
            let place = EditablePlace.test(version: 9, draft)
            return request.url?.path == "/locations"
                ? .places([PointOfInterest(place)]) : .place(PointOfInterest(place, isOfOnePlace: true))
        }
        let place = try #require(try await list().first)
        #expect([place.name, place.category, place.address] == ["Deren", "hotel", "Platz 2"])
        // By its version this is newer: somebody has put the address back.
        let details = try await finder.place(id: 12)
        #expect([details.name, details.category, details.address] == ["Deren", "hotel", "Platz 1"])
    }

    @Test("After a while a list shows what the service says; details, which have a version, never go back")
    func ends() async throws {
        try await editor.correct(.test()) { $0.name = "Café" }
        pass(59)
        #expect(try await list(receivedAfter: 59).name == "Café")
        pass(2)
        #expect(try await list(receivedAfter: 61).name == "Cafe")
        #expect(try await finder.place(id: 12).name == "Café")
    }

    /// The first place of a list that comes so many seconds after the test's begin.
    private func list(receivedAfter seconds: TimeInterval) async throws -> PointOfInterest {
        let page = PlacesPage(
            places: [PointOfInterest(.test())], next: nil,
            receivedAt: time.withLock { $0 })
        let finder = editor.showingOwnEdits(OnePageFinder(pages: [page]))
        return try #require(try await finder.places(NearbyPlacesRequest(center: nil)).first)
    }

    @Test("What is kept doesn't bring back what a place was: not after an edit, nor from a server that lags")
    func dropsKept() async throws {
        let center = try Coordinate(latitude: 52.5, longitude: 13.4)
        let requests = [
            NearbyPlacesRequest(center: center), NearbyPlacesRequest(searchText: "caf", center: center),
        ]
        for request in requests { _ = try await service.nearbyPlaces(request) }
        _ = try await service.place(id: 12)
        #expect(await service.keptPage(of: requests[0]) != nil)
        try await editor.correct(.test()) { $0.name = "Café" }
        // As after the app's next start, when nobody knows the edit any more.
        for request in requests { #expect(await service.keptPage(of: request) == nil) }
        #expect(await service.keptPlaces(ids: [12]) == nil)

        for request in requests { #expect(try await finder.places(request).first?.name == "Café") }
        for request in requests { #expect(await service.keptPage(of: request) == nil) }
        _ = try await finder.place(id: 12)
        #expect(await service.keptPlaces(ids: [12]) == nil)
    }

    @Test("What has none of the edited places stays kept")
    func keepsOthers() async throws {
        _ = try await service.place(id: 84)
        try await editor.correct(.test()) { $0.name = "Café" }
        #expect(await service.keptPlaces(ids: [84]) != nil)
    }

    @Test("A kept response of before the edit shows it, however late it is looked at")
    func editsKept() async throws {
        let page = PlacesPage(
            places: [PointOfInterest(.test()), PointOfInterest(.test(id: 84))], next: nil,
            receivedAt: time.withLock { $0 })
        try await editor.remove(.test())
        try await editor.correct(.test(id: 84, version: 8)) { $0.name = "Kiosk 2" }
        pass(3_600)
        let finder = editor.showingOwnEdits(OnePageFinder(pages: [page]))
        #expect(await finder.keptPage(of: NearbyPlacesRequest(center: nil))?.places.map(\.id) == [84])
        #expect(await finder.keptPlaces(ids: [12, 84], languages: [])?.places.map(\.id) == [84])
    }

    @Test("A page whose places are all removed is passed over, so that the list doesn't end with it")
    func passesOverPages() async throws {
        let pages = [
            PlacesPage(places: [PointOfInterest(.test())], next: URL(string: "https://service.test/2")),
            PlacesPage(places: [PointOfInterest(.test(id: 84))], next: nil),
        ]
        try await editor.remove(.test())
        let finder = editor.showingOwnEdits(OnePageFinder(pages: pages))
        let page = try await finder.nearbyPlaces(NearbyPlacesRequest(center: nil))
        #expect(page.places.map(\.id) == [84])
        #expect(page.next == nil)
    }

    @Test("A map shows edits, too")
    func editsClusters() async throws {
        let box = try #require(BoundingBox(west: 13, south: 52, east: 14, north: 53))
        let clusters = [12, 84].map { id in
            PlaceCluster(
                count: 1, latitude: 52.5, longitude: 13.4, box: box, place: PointOfInterest(.test(id: id)))
        }
        let pair = PlaceCluster(count: 2, latitude: 52.5, longitude: 13.4, box: box)
        try await editor.remove(.test())
        try await editor.correct(.test(id: 84, version: 8, .survivor)) { $0.category = "bar" }
        let finder = editor.showingOwnEdits(OnePageFinder(pages: [], clusters: clusters + [pair]))
        let request = ClustersRequest(box: box, zoom: 3)
        #expect(try await finder.clusters(request).clusters.map(\.count) == [1, 2])
        #expect(await finder.keptClusters(request)?.clusters.map(\.place?.id) == [84, nil])
    }

    @Test("The app's models show an edit with their next load")
    @MainActor func showsInModels() async throws {
        let favorites = FavoritePlaces(ids: [12, 84], placeFinder: editor.showingOwnEdits())
        await favorites.load()
        #expect(favorites.places.map(\.name) == ["Cafe", "Kiosk"])
        try await editor.correct(.test()) { $0.name = "Café" }
        await favorites.load()
        #expect(favorites.places.map(\.name) == ["Café", "Kiosk"])
        try await editor.remove(try await editor.record(of: 84))
        await favorites.load()
        #expect(favorites.missing == [84])
    }

    @Test("An edit that is found to be done later shows, too")
    func showsRetried() async throws {
        standIn.fail(.responseLost, .responseLost, .responseLost)
        do throws(PlaceEditorError) {
            _ = try await editor.correct(.test()) { $0.name = "Café" }
        } catch {
            guard case .unknownOutcome(let edit, _) = error else { throw error }
            #expect(try await list().first?.name == "Cafe")
            try await editor.retry(edit)
        }
        #expect(try await list().first?.name == "Café")
    }
}

extension PlaceDraft {
    fileprivate static var survivor: PlaceDraft {
        PlaceDraft(name: "Kiosk", category: "kiosk", latitude: 52.5, longitude: 13.4)
    }
}

/// Finds the same pages and clusters, and has kept the first page.
private struct OnePageFinder: PlaceFinder {
    let pages: [PlacesPage]
    var clusters: [PlaceCluster] = []
    var hasRegions = false

    func nearbyPlaces(_ request: NearbyPlacesRequest) async throws -> PlacesPage { pages[0] }
    func nextPage(after page: PlacesPage) async throws -> PlacesPage? { page.next.map { _ in pages[1] } }
    func place(id: Int, center: Coordinate?, languages: [String]) async throws -> PointOfInterest {
        throw RequestError.problem(Problem(.notFound))
    }
    func clusters(_ request: ClustersRequest) async throws -> PlaceClusters {
        PlaceClusters(zoom: request.zoom, clusters: clusters)
    }
    func categories() async throws -> [CategoryCount] { [] }
    func attributions() async throws -> [Attribution] { [] }
    func keptPage(of request: NearbyPlacesRequest) async -> PlacesPage? { pages.first }
    func keptPlaces(ids: [Int], languages: [String]) async -> PlacesPage? { pages.first }
    func keptClusters(_ request: ClustersRequest) async -> (clusters: [PlaceCluster], receivedAt: Date?)? {
        (clusters, nil)
    }
}
